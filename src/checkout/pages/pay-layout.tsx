import type { ComponentChildren } from 'preact';
import { Page } from '../../platform/html.tsx';
import { type Language, productName } from '../../platform/languages.ts';
import {
  BrandMark,
  type Explanation,
  Icon,
  type LanguageLink,
  LanguageSwitcher,
} from '../../platform/page-parts.tsx';
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

/** A page that belongs to no payment, or cannot look at it: it does not say whose it is. */
export function LonePage(view: {
  language: Language;
  languages: LanguageLink[];
  told: Explanation & { look?: string };
  /** Where the payment is found, if that is known; the page goes there by itself after a while. */
  lookHref: string | undefined;
}) {
  const { language, told, lookHref } = view;
  return (
    <Page
      language={language}
      title={`${told.title} – ${productName}`}
      look="login"
      {...(lookHref ? { refreshWithoutScript: { seconds: 10, url: lookHref } } : {})}
      header={
        <header>
          <div class="brand">
            <BrandMark />
            {productName}
          </div>
          <LanguageSwitcher
            language={language}
            languages={lookHref ? [] : view.languages}
            label={payTexts[language].languageChoice}
          />
        </header>
      }
    >
      <div class="card">
        <div class="sign bad">
          <Icon name="alert" />
        </div>
        <h1>{told.title}</h1>
        <p>{told.text}</p>
        {lookHref && (
          <div class="actions">
            <a class="button" href={lookHref}>
              {told.look}
            </a>
          </div>
        )}
      </div>
    </Page>
  );
}
