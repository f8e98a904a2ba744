import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { changeTheme } from '../checkout/change-merchant.ts';
import type { Theme } from '../checkout/domain/theme.ts';
import { findMerchant } from '../checkout/store/merchants.ts';
import { OperatorRefusal } from '../platform/operator-refusal.ts';
import { type Answer, addChanging, onDatabase } from './command.ts';
import type { CommandDeps } from './deps.ts';
import { namingOptions } from './name-options.ts';
import { record } from './text.ts';

const optionOf = { logo: '--logo', accent: '--accent' };

export function setThemeCommand(merchant: Command): void {
  addChanging(merchant, 'set-theme <merchant>', {
    about: 'set the logo and the colour of a merchant’s payment page; what is not given stays',
    examples: [
      'tollgate merchant set-theme SHOP1 --logo shop.png --accent "#0b5fae"',
      'tollgate merchant set-theme SHOP1 --logo none',
    ],
    json: { merchantId: 'SHOP1', theme: { logoBytes: 2048, accent: '#0b5fae' }, changed: ['logo', 'accent'] },
    more: 'A colour that could not be read is darkened or lightened on the page as little as will do. Pages change within a second.',
  })
    .option('--logo <file>', 'a PNG, JPEG or WebP of at most 16 kB; none takes it away')
    .option('--accent <colour>', 'such as #0b5fae; none takes it away')
    .action(onDatabase(setTheme));
}

async function setTheme(
  deps: CommandDeps,
  { logo, accent }: { logo?: string; accent?: string },
  merchantId: string,
): Promise<Answer> {
  const changes: Partial<Theme> = {
    ...(logo === undefined ? {} : { logo: logo === 'none' ? null : readLogo(logo) }),
    ...(accent === undefined ? {} : { accent: accent === 'none' ? null : accent.toLowerCase() }),
  };
  if (Object.keys(changes).length === 0)
    throw new OperatorRefusal('given', 'Nothing to change was given; see --help.');
  const changed = await namingOptions(optionOf, () =>
    changeTheme(deps, { merchantId, actor: deps.actor, changes }),
  );
  const merchant = await findMerchant(deps.db, merchantId);
  const theme = { logoBytes: logoBytes(merchant?.logo ?? null), accent: merchant?.accent ?? null };
  return {
    json: { merchantId, theme, changed },
    text: record({ merchant: merchantId, 'bytes of the logo': theme.logoBytes, accent: theme.accent }),
  };
}

/** As a data: address of whatever it begins like; the check of the theme looks at it more closely. */
function readLogo(path: string): string {
  try {
    const bytes = readFileSync(path);
    return `data:image/${kindOf(bytes)};base64,${bytes.toString('base64')}`;
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new OperatorRefusal('given', `--logo: ${path} cannot be read (${reason}); name a file, or none.`);
  }
}

function kindOf(bytes: Buffer): string {
  if (bytes[0] === 0xff) return 'jpeg';
  return bytes.subarray(0, 4).toString('latin1') === 'RIFF' ? 'webp' : 'png';
}

function logoBytes(logo: string | null): number | null {
  return logo === null ? null : Buffer.from(logo.replace(/^.*,/, ''), 'base64').length;
}
