import { Type } from 'typebox';

export const merchantSecurity = [{ bearer: [] }, { clientBasic: [] }];

export const IdParams = Type.Object({ id: Type.String({ maxLength: 64 }) });

/** For the documentation: the handler checks it before the body is looked at, and says what is wrong in its own words. */
export const KeyHeaders = Type.Object({
  'x-idempotency-key': Type.Optional(
    Type.String({
      description:
        'Required. Chosen by you, one for each thing you want done: 1 to 255 visible ASCII characters',
      examples: ['6f1c0a3e-2b7d-4c58-9a51-0d3f6b7e8c90'],
    }),
  ),
});
