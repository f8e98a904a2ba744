import type { ComponentChildren } from 'preact';
import { Page } from '../../platform/html.tsx';
import { type Language, productName } from '../../platform/languages.ts';
import { BrandMark, type LanguageLink, LanguageSwitcher } from '../../platform/page-parts.tsx';
import { loginScript } from './login-script.ts';
import { catalogues } from './texts.ts';

/** What every login page needs: its language, and where the same page is found in the others. */
export type FrameView = { language: Language; languages: LanguageLink[] };

/** Where a form goes and what it brings back. */
export type FormTarget = { action: string; csrf: string; flow: string };

type LayoutView = FrameView & { title: string; failed?: boolean; children: ComponentChildren };

/** The frame of the login pages: who we are, one card, the other languages. */
export function LoginLayout({ language, languages, title, failed, children }: LayoutView) {
  const texts = catalogues[language];
  return (
    <Page
      language={language}
      title={`${failed ? texts.failed(title) : title} – ${productName}`}
      look="login"
      header={
        <header>
          <div class="brand">
            <BrandMark />
            {productName}
          </div>
          <LanguageSwitcher language={language} languages={languages} label={texts.languageChoice} />
        </header>
      }
      footer={
        <footer>
          <p>{texts.tagline}</p>
        </footer>
      }
      script={loginScript}
    >
      <div class="card">{children}</div>
    </Page>
  );
}

export function HiddenFields({ csrf, flow }: { csrf: string; flow: string }) {
  return (
    <>
      <input type="hidden" name="csrf" value={csrf} />
      <input type="hidden" name="flow" value={flow} />
    </>
  );
}

/** The text with the name in it made bold, wherever the language puts it. */
export function WithName({ text, name }: { text: string; name: string }) {
  const at = name === '' ? -1 : text.indexOf(name);
  if (at < 0) return <>{text}</>;
  return (
    <>
      {text.slice(0, at)}
      <b>{name}</b>
      {text.slice(at + name.length)}
    </>
  );
}

/** The number as people read it: +994 50 123 45 67, kept on one line. A masked or foreign number stays as it is. */
export function readablePhone(phone: string): string {
  return phone.replace(/^(\+994)(\d\d)(\d{3})(\d\d)(\d\d)$/, '$1 $2 $3 $4 $5').replaceAll(' ', '\u00a0');
}
