import type { ComponentChildren } from 'preact';
import { Page } from '../platform/html.tsx';

export const shopStyle = `
.shop-nav { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.25rem; max-width: 66rem; margin: 0 auto; padding: 1rem; }
.shop-nav b { font-size: 1.125rem; margin-inline-end: auto; }
.shop-nav a { display: inline-flex; align-items: center; min-height: 2.75rem; }
.shop main { padding-top: 1rem; }
.shop .product { display: flex; flex-direction: column; gap: .25rem; }
.shop .product svg { width: 4rem; height: 4rem; color: var(--accent); }
.shop .product p { margin: 0; }
.shop .product form { margin-top: auto; padding-top: .75rem; }
.shop .price { font-size: 1.25rem; font-weight: 700; }
.shop pre { margin: .5rem 0 0; padding: .85rem 1rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; background: var(--code); border-radius: 8px; font: .8125rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.shop details { margin: .5rem 0; }
.shop summary { cursor: pointer; min-height: 2.75rem; display: flex; align-items: center; font-weight: 600; }
.shop summary::before { content: "▸"; width: 1.25rem; flex: none; }
.shop details[open] > summary::before { content: "▾"; }
.shop .row { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; margin-top: 1rem; }
.shop .row .button { width: auto; }
.shop .row input { width: 9rem; }
.shop .status { display: inline-block; padding: .1rem .7rem; border-radius: 99px; font-weight: 600; background: var(--accent-soft); color: var(--accent); }
.shop .status.succeeded { background: var(--good-soft); color: var(--good); }
.shop .status.canceled { background: var(--warn-soft); color: var(--warn); }
.shop ol.events { list-style: none; padding: 0; }
.shop ol.events li { border-top: 1px solid var(--line); margin: 0; }
`;

/** Looks again while something is still on its way. */
export const reloadScript = `
if (document.querySelector('[data-reload]')) setTimeout(() => location.reload(), 1500);
`;

export function Shop({
  title,
  reload,
  children,
}: {
  title: string;
  reload?: boolean;
  children: ComponentChildren;
}) {
  return (
    <Page
      language="en"
      title={`${title} – Demo Shop`}
      look="shop"
      styles={[shopStyle]}
      script={reloadScript}
      {...(reload ? { refreshWithoutScript: { seconds: 2 } } : {})}
      header={
        <header>
          <nav class="shop-nav" aria-label="Demo Shop">
            <b>Demo Shop</b>
            <a href="/demo">Shop</a>
            <a href="/demo/account">Account</a>
            <a href="/demo/experiments">Break it</a>
            <a href="/">What runs here</a>
          </nav>
        </header>
      }
    >
      {reload && <span data-reload hidden />}
      {children}
    </Page>
  );
}

export function Json({ value }: { value: unknown }) {
  return <pre>{JSON.stringify(value, null, 2)}</pre>;
}
