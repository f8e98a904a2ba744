import type { Language } from '../../platform/languages.ts';

const sentences: Record<Language, (code: string) => string> = {
  az: (code) => `${code} - Tollgate girish kodunuz. Onu hech kime demeyin.`,
  en: (code) => `${code} is your Tollgate login code. Do not tell it to anybody.`,
  ru: (code) => `${code} - kod dlya vhoda v Tollgate. Ne soobshchajte ego nikomu.`,
};

/**
 * The text of a code. It keeps to letters that fit into one SMS of 160 places. The last line binds the code to our
 * host: phones then fill it in there and nowhere else, which a page that only looks like ours cannot get around.
 */
export function codeText(language: Language, code: string, ssoUrl: string): string {
  return `${sentences[language](code)}\n\n@${new URL(ssoUrl).hostname} #${code}`;
}
