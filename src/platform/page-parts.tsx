import { type Language, languageNames } from './languages.ts';

/** Where the same page is found in a language. */
export type LanguageLink = { language: Language; href: string };

/** Two sentences of one refusal: what happened, for the summary, and what to do, for the place it belongs to. */
export type Explanation = { title: string; text: string };

export function LanguageSwitcher(view: { language: Language; languages: LanguageLink[]; label: string }) {
  if (view.languages.length === 0) return null;
  return (
    <nav aria-label={view.label}>
      <ul>
        {view.languages.map(({ language, href }) => (
          <li key={language} lang={language}>
            {language === view.language ? (
              <span aria-current="true">
                <LanguageLabel language={language} />
              </span>
            ) : (
              <a href={href} hreflang={language}>
                <LanguageLabel language={language} />
              </a>
            )}
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Two letters to see and the whole name to hear; the letters are part of the name, so that one can say what one sees. */
function LanguageLabel({ language }: { language: Language }) {
  return (
    <>
      {language.toUpperCase()}
      <span class="unseen"> {languageNames[language]}</span>
    </>
  );
}

/**
 * What went wrong, above all else. It takes the focus, so that a screen reader begins with it; with a field it
 * leads there and the field says the rest, without one it says everything itself.
 */
export function ErrorSummary({ error, field }: { error: Explanation; field?: string | undefined }) {
  return (
    <div class="notice error" role="alert" tabIndex={-1} data-summary {...takesFocus}>
      <Icon name="alert" />
      <p>{field ? <a href={`#${field}`}>{error.title}</a> : <b>{error.title}</b>}</p>
      {!field && <p>{error.text}</p>}
    </div>
  );
}

/** Each of these pages asks for one thing, and the focus goes where the next step is: to the error, else to the field. */
export const takesFocus = { autofocus: true };

export function BrandMark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="7" fill="#0b5fae" />
      <path d="M8 25V9m0 3h18" stroke="#fff" stroke-width="3.5" stroke-linecap="round" fill="none" />
    </svg>
  );
}

const icons = {
  lock: 'M6.500 10.500h11a1.500 1.500 0 0 1 1.500 1.500v7a1.500 1.500 0 0 1-1.500 1.500h-11A1.500 1.500 0 0 1 5 19v-7a1.500 1.500 0 0 1 1.500-1.500Zm1.500 0V8a4 4 0 0 1 8 0v2.500',
  wallet:
    'M4.500 6.500h13A1.500 1.500 0 0 1 19 8v2m0 4v4a1.500 1.500 0 0 1-1.500 1.500h-12A2.500 2.500 0 0 1 3 17V6.500A1.500 1.500 0 0 1 4.500 5H16M16 10h5v4h-5a2 2 0 0 1 0-4Z',
  wait: 'M12 3v4m0 10v4M3 12h4m10 0h4M5.600 5.600l2.900 2.900m7 7 2.900 2.900M5.600 18.400l2.900-2.900m7-7 2.900-2.900',
  alert: 'M12 8v5m0 3.5v.01M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Z',
  info: 'M12 11v5.5m0-9v.01M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18Z',
  done: 'm5 12.5 4.5 4.5L19 7.5',
  leave: 'M14 4H7a2 2 0 0 0-2 2v12a2 2 0 0 0 2 2h7m-3-8h9m0 0-3.5-3.5M20 12l-3.5 3.5',
  shield: 'M12 3 5 6v5.5c0 4.4 2.9 7.6 7 9.5 4.1-1.9 7-5.1 7-9.5V6l-7-3Zm-3 8.8 2.2 2.2L15 10.2',
  key: 'M15.5 3a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11Zm-4 9.5L3.5 20.5m3.5-3.5 3 3',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7.5 8.5c.8-3.6 3.8-5.5 7.5-5.5s6.7 1.9 7.5 5.5',
  phone:
    'M8 3h8a1.5 1.5 0 0 1 1.5 1.500v15A1.5 1.5 0 0 1 16 21H8a1.5 1.5 0 0 1-1.5-1.500v-15A1.5 1.5 0 0 1 8 3Zm3 15h2',
  document:
    'M4 5h16a1.5 1.5 0 0 1 1.5 1.500v11A1.5 1.5 0 0 1 20 19H4a1.5 1.5 0 0 1-1.5-1.500v-11A1.5 1.5 0 0 1 4 5Zm4.5 6.500a1.75 1.75 0 1 0 0-3.5 1.75 1.75 0 0 0 0 3.500ZM5.5 15.500c.5-1.3 1.6-2 3-2s2.5.7 3 2M14.5 10H18m-3.5 4H18',
};

export function Icon({ name }: { name: keyof typeof icons }) {
  return (
    <svg
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={icons[name]} />
    </svg>
  );
}
