/** What a merchant may change about its payment page. */
export type Theme = { logo: string | null; accent: string | null };
export type ThemeFault = { field: 'logo' | 'accent'; detail: string };

/** The page with everything on it stays small; a logo of 32 pixels in height needs far less. */
const mostLogoBytes = 16_384;

/** How the files of each kind begin: a name is no proof of what is inside. */
const logoKinds: Record<string, (bytes: Buffer) => boolean> = {
  png: (bytes) => bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex')),
  jpeg: (bytes) => bytes.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex')),
  webp: (bytes) =>
    bytes.subarray(0, 4).toString('latin1') === 'RIFF' && bytes.subarray(8, 12).toString('latin1') === 'WEBP',
};

export function themeFaults({ logo, accent }: Theme): ThemeFault[] {
  const faults: ThemeFault[] = [];
  if (accent !== null && !/^#[0-9a-f]{6}$/.test(accent)) {
    faults.push({ field: 'accent', detail: 'A colour is written as #0b5fae, in lower case.' });
  }
  if (logo !== null && !isLogo(logo)) {
    faults.push({
      field: 'logo',
      detail: `A logo is a PNG, JPEG or WebP of at most ${mostLogoBytes} bytes, as a data: address in base64.`,
    });
  }
  return faults;
}

function isLogo(logo: string): boolean {
  const [, kind = '', base64 = ''] =
    /^data:image\/(png|jpeg|webp);base64,([A-Za-z0-9+/]+={0,2})$/.exec(logo) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length <= mostLogoBytes && (logoKinds[kind]?.(bytes) ?? false);
}

type Colour = readonly [red: number, green: number, blue: number];
export type Shades = { accent: string; onAccent: string; deep: string; soft: string };

const white: Colour = [255, 255, 255];
const black: Colour = [0, 0, 0];
/** What text of the accent colour stands on, in the style sheet's two schemes. */
const grounds = {
  light: [colourOf('#ffffff'), colourOf('#f4f6f8')],
  dark: [colourOf('#18212b'), colourOf('#10161d')],
} as const;

/**
 * The shades of a merchant's colour that can be read (WCAG AA, 4.5 to 1) as text and as the ground of a button, in
 * both schemes. A colour that cannot is darkened, or lightened, as little as will do.
 */
export function shadesOf(accent: string): { light: Shades; dark: Shades } {
  return { light: shades(colourOf(accent), 'light'), dark: shades(colourOf(accent), 'dark') };
}

function shades(wished: Colour, scheme: 'light' | 'dark'): Shades {
  const [card] = grounds[scheme];
  const away = scheme === 'light' ? black : white;
  const softOf = (colour: Colour) => mixed(card, colour, 0.12);
  const legible = (colour: Colour) =>
    [...grounds[scheme], softOf(colour)].every((ground) => contrast(colour, ground) >= 4.5);
  let colour = wished;
  for (let step = 1; step <= 50 && !legible(colour); step++) colour = mixed(wished, away, step / 50);
  const onAccent = contrast(colour, white) >= 4.5 ? white : black;
  return {
    accent: hexOf(colour),
    onAccent: hexOf(onAccent),
    // Further from what is written on it, so that it is read even better under the pointer.
    deep: hexOf(mixed(colour, onAccent === white ? black : white, 0.2)),
    soft: hexOf(softOf(colour)),
  };
}

export function contrastOf(left: string, right: string): number {
  return contrast(colourOf(left), colourOf(right));
}

function contrast(left: Colour, right: Colour): number {
  const [light, dark] = [luminance(left), luminance(right)].sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: Colour): number {
  const [red, green, blue] = colour.map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mixed(from: Colour, to: Colour, share: number): Colour {
  const channel = (at: 0 | 1 | 2) => Math.round(from[at] + (to[at] - from[at]) * share);
  return [channel(0), channel(1), channel(2)];
}

function colourOf(hex: string): Colour {
  const part = (at: number) => Number.parseInt(hex.slice(at, at + 2), 16);
  return [part(1), part(3), part(5)];
}

function hexOf(colour: Colour): string {
  return `#${colour.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}
