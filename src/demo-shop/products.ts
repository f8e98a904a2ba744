export type Product = { name: string; about: string; price: string; picture: string };

/** The pictures are paths of a 48 by 48 drawing. */
export const products: Product[] = [
  {
    name: 'Coffee beans',
    about: 'Half a kilo, roasted this morning.',
    price: '12.50',
    picture:
      'M10 18h22v12a9 9 0 0 1-9 9h-4a9 9 0 0 1-9-9Zm22 3h3a5 5 0 0 1 0 10h-3M16 6c-2 3 2 4 0 8m8-8c-2 3 2 4 0 8',
  },
  {
    name: 'Opera ticket',
    about: 'Stalls, on Saturday.',
    price: '45.00',
    picture: 'M6 14h36v7a4 4 0 0 0 0 8v7H6v-7a4 4 0 0 0 0-8Zm22 0v22',
  },
  {
    name: 'Headphones',
    about: 'For when it is too loud.',
    price: '129.90',
    picture: 'M8 30v-4a16 16 0 0 1 32 0v4M8 28h6v12h-3a3 3 0 0 1-3-3Zm32 0h-6v12h3a3 3 0 0 0 3-3Z',
  },
];
