export const languages = ['az', 'en', 'ru'] as const;
export type Language = (typeof languages)[number];

/** Each by its own name, for those who speak no other. */
export const languageNames: Record<Language, string> = { az: 'Azərbaycanca', en: 'English', ru: 'Русский' };

export const productName = 'Tollgate';

/**
 * The language of a page: the first of `ui_locales` that we speak, else what the browser prefers, else Azerbaijani.
 * Both values come from outside and only ever select one of ours.
 */
export function chooseLanguage(uiLocales: string | undefined, acceptLanguage: string | undefined): Language {
  const asked = bounded(uiLocales).split(/\s+/).map(spoken).find(Boolean);
  return asked ?? preferred(bounded(acceptLanguage)) ?? 'az';
}

function preferred(acceptLanguage: string): Language | undefined {
  const wishes = acceptLanguage.split(',').map((part) => {
    const [tag = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const weight = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2) ?? '1';
    return {
      language: tag === '*' ? 'az' : spoken(tag),
      quality: /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight) ? Number(weight) : 0,
    };
  });
  return wishes.filter((wish) => wish.language && wish.quality > 0).sort((a, b) => b.quality - a.quality)[0]
    ?.language;
}

function spoken(tag: string): Language | undefined {
  const primary = tag.split('-', 1)[0]?.toLowerCase();
  return languages.find((language) => language === primary);
}

/** No honest list of languages is longer, so a dishonest one costs nothing. */
function bounded(value: string | undefined): string {
  return (value ?? '').slice(0, 1000);
}
