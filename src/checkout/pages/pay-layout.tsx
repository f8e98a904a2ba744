import type { ComponentChildren } from 'preact';
import { Page } from '../../platform/html.tsx';
import { type Language, productName } from '../../platform/languages.ts';
import { BrandMark, Icon, type LanguageLink, LanguageSwitcher } from '../../platform/page-parts.tsx';
import { payScript } from './pay-script.ts';
import { payStyle } from './pay-style.ts';
import { payTexts } from './pay-texts.ts';

/** What every page of a payment shows: whose it is, how much, for what. */
export type PayFrame = {
  language: Language;
  languages: LanguageLink[];
  shop: { name: string; logo: string | null };
  /** As the customer reads it: `100.00 AZN`. */
  amount: string;
  description: string | null;
  order: string | null;
  test: boolean;
  /** The merchant's colours, as a style sheet of `themeStyle`. */
  themeStyle: string | null;
};

type Layout = {
  frame: PayFrame;
  title?: string;
  failed?: boolean;
  refresh?: { seconds: number; url?: string };
  /** What the amount is called where it is no longer to be paid. */
  amountName?: string;
  /** Stands below the amount, such as the time left. */
  aside?: ComponentChildren;
  children: ComponentChildren;
};

/** The frame of the payment pages: shop and amount on one side, what there is to do on the other. */
export function PayLayout({ frame, title, failed, refresh, aside, children, ...given }: Layout) {
  const texts = payTexts[frame.language];
  const amountName = given.amountName ?? texts.toPay;
  const named = `${title ? `${title} – ` : ''}${texts.documentTitle(frame.shop.name)}`;
  // Every page has one heading of the first rank: its title or, where there is only the amount to say, that.
  const Amount = title ? 'p' : 'h1';
  return (
    <Page
      language={frame.language}
      title={failed ? texts.failed(named) : named}
      look="login pay"
      styles={stylesOf(frame)}
      script={payScript}
      refreshWithoutScript={refresh}
      header={
        <header>
          <div class="brand">
            <ShopMark {...frame.shop} />
            {frame.shop.name}
          </div>
          <LanguageSwitcher {...frame} label={texts.languageChoice} />
        </header>
      }
      footer={
        <footer>
          <p>
            <Icon name="shield" />
            {texts.secured}
          </p>
        </footer>
      }
    >
      <section class="summary" aria-label={amountName}>
        <Amount class="amount">
          <span class="unseen">{amountName}: </span>
          {frame.amount}
        </Amount>
        {frame.description && <p class="what">{frame.description}</p>}
        {frame.order && <p class="what">{texts.order(frame.order)}</p>}
        {frame.test && <p class="test">{texts.test}</p>}
        {aside}
      </section>
      <div class="card">{children}</div>
    </Page>
  );
}

function stylesOf({ themeStyle }: Pick<PayFrame, 'themeStyle'>): string[] {
  return themeStyle === null ? [payStyle] : [payStyle, themeStyle];
}

function ShopMark({ name, logo }: PayFrame['shop']) {
  if (logo) return <img class="logo" src={logo} alt="" />;
  return (
    <span class="initial" aria-hidden="true">
      {[...name][0]?.toUpperCase()}
    </span>
  );
}

/** A page that belongs to no payment, so that it cannot say whose it is. */
export function UnknownLinkPage({ language, languages }: { language: Language; languages: LanguageLink[] }) {
  const texts = payTexts[language];
  return (
    <Page
      language={language}
      title={`${texts.unknownLink.title} – ${productName}`}
      look="login pay"
      styles={[payStyle]}
      header={
        <header>
          <div class="brand">
            <BrandMark />
            {productName}
          </div>
          <LanguageSwitcher language={language} languages={languages} label={texts.languageChoice} />
        </header>
      }
    >
      <div class="card">
        <div class="sign bad">
          <Icon name="alert" />
        </div>
        <h1>{texts.unknownLink.title}</h1>
        <p>{texts.unknownLink.text}</p>
      </div>
    </Page>
  );
}
