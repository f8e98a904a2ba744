import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { ComponentChildren, VNode } from 'preact';
import { render } from 'preact-render-to-string';
import { pageStyle } from './page-style.ts';

export type PageView = {
  language: string;
  title: string;
  /** A class of the body, for pages that are not one wide column. */
  look?: string;
  header?: ComponentChildren;
  children: ComponentChildren;
  footer?: ComponentChildren;
  /** Loads the page anew by itself, or another, for those without script; with script the page decides. */
  refreshWithoutScript?: { seconds: number; url?: string } | undefined;
  /** Laid over the common style sheet. Whoever sends the page names the same to `sendPage`, or they do not apply. */
  styles?: string[];
  /** A constant of ours. Whoever sends the page names the same constant to `sendPage`, or it does not run. */
  script?: string;
};

export type PageOptions = {
  styles?: string[];
  /** The script asks our own server for how things stand. */
  connects?: boolean;
  /** Where forms may lead besides our own origin, redirects after them included. Left out: the page has no form. */
  formAction?: string[];
  script?: string;
  status?: number;
};

const styleHash = hashOf(pageStyle);

/** Carried in the page, so that no page asks for a second file. */
const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b5fae"/>' +
    '<path d="M8 25V9m0 3h18" stroke="#fff" stroke-width="3.5" stroke-linecap="round"/></svg>',
)}`;

/** The frame of every page: one column, our one style sheet, nothing from elsewhere. */
export function Page(view: PageView) {
  return (
    <html lang={view.language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="format-detection" content="telephone=no" />
        {view.refreshWithoutScript && (
          <noscript>
            <meta http-equiv="refresh" content={refreshContent(view.refreshWithoutScript)} />
          </noscript>
        )}
        <title>{view.title}</title>
        <link rel="icon" href={icon} />
        {/* Style and script are constants of ours, named by hash in the policy; no value of a request reaches them. */}
        {[pageStyle, ...(view.styles ?? [])].map((style) => (
          <style key={style} dangerouslySetInnerHTML={{ __html: style }} />
        ))}
      </head>
      <body class={view.look}>
        {view.header}
        <main>{view.children}</main>
        {view.footer}
        {view.script && <script dangerouslySetInnerHTML={{ __html: view.script }} />}
      </body>
    </html>
  );
}

function refreshContent({ seconds, url }: { seconds: number; url?: string }): string {
  return url === undefined ? String(seconds) : `${seconds}; url=${url}`;
}

/** What a page of ours needs of the device: nothing. */
export const pagePermissions = ['camera', 'display-capture', 'geolocation', 'microphone', 'payment', 'usb']
  .map((feature) => `${feature}=()`)
  .join(', ');

export function sendPage(reply: FastifyReply, page: VNode, options: PageOptions = {}): FastifyReply {
  if (options.status) reply.code(options.status);
  return reply
    .header('content-security-policy', pagePolicy(options))
    .header('permissions-policy', pagePermissions)
    .type('text/html; charset=utf-8')
    .send(renderPage(page));
}

export function renderPage(page: VNode): string {
  return `<!doctype html>${render(page)}`;
}

/** A script of ours never turns text into markup or code, and the browser holds it to that. */
const noMarkupFromScript = "require-trusted-types-for 'script'; trusted-types 'none'";

export function pagePolicy({ formAction, script, styles = [], connects }: PageOptions): string {
  const targets = formAction ? ["'self'", ...formAction.map(sourceOf)].join(' ') : "'none'";
  return [
    "default-src 'none'",
    `style-src ${[styleHash, ...styles.map(hashOf)].map((hash) => `'${hash}'`).join(' ')}`,
    ...(script ? [`script-src '${hashOf(script)}'`, noMarkupFromScript] : []),
    ...(connects ? ["connect-src 'self'"] : []),
    'img-src data:',
    `form-action ${targets}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

/** An origin (`https://partner.example`) or the scheme of a native app (`com.example.app:`), and nothing that could end the directive. */
function sourceOf(target: string): string {
  if (!/^[a-z][a-z0-9+.-]*:(\/\/[\w.[\]:-]+)?$/i.test(target)) {
    throw new Error(`not a source for a content security policy: ${JSON.stringify(target)}`);
  }
  return target;
}

export function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
