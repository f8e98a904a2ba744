import type { FormFields } from '../platform/form.ts';
import type { Language } from '../platform/languages.ts';
import { seal, unseal } from '../platform/seal.ts';
import type { IdentityDeps } from './deps.ts';
import type { AuthorizationRequest } from './domain/authorization-request.ts';

/**
 * One login in one tab. It travels sealed inside the pages and is kept nowhere, so every tab is independent, works
 * after the back button, and nothing is written before a phone number is submitted.
 */
export type Flow = {
  request: AuthorizationRequest;
  startedAt: number;
  /** The browser it belongs to: a link from the middle of a login is of no use in another one. */
  browser: string;
  language?: Language;
  phone?: string;
  resendAt?: number;
  notice?: 'already_on_its_way' | 'sent_again';
  /** What the consent page has shown, and whose: exactly that is allowed by it. */
  consentShown?: { sid: string; documents: boolean };
};

const lifetimeMs = 30 * 60_000;

export type OpenedFlow =
  | { kind: 'ok'; flow: Flow }
  | { kind: 'expired'; flow: Flow }
  | { kind: 'other_browser'; flow: Flow }
  | { kind: 'broken' };

export function sealFlow(deps: IdentityDeps, flow: Flow): string {
  return seal(deps.keys.flow, JSON.stringify(flow), 'flow').toString('base64url');
}

export function openFlow(
  deps: IdentityDeps,
  sealed: string | undefined,
  browser: string | undefined,
): OpenedFlow {
  const opened = sealed && unseal(deps.keys.flow, Buffer.from(sealed, 'base64url'), 'flow');
  if (!opened) return { kind: 'broken' };
  const flow = JSON.parse(opened.toString()) as Flow;
  if (flow.browser !== browser) return { kind: 'other_browser', flow };
  return { kind: deps.now().getTime() - flow.startedAt > lifetimeMs ? 'expired' : 'ok', flow };
}

/** The server takes 16 kB of address and headers together; the rest is for cookies and what a browser adds. */
const longestInAddress = 13_500;

/** Whether something sealed fits into an address: what does not would break off halfway, at some later step. */
export function fitsIntoAddress(sealed: string): boolean {
  return sealed.length <= longestInAddress;
}

const postedForMs = 5 * 60_000;

/** The parameters of a POST from another site, on their way to the GET that has our cookies with it. */
export function sealPosted(deps: IdentityDeps, purpose: string, form: FormFields): string {
  const posted = JSON.stringify({ form: [...form], at: deps.now().getTime() });
  return seal(deps.keys.flow, posted, purpose).toString('base64url');
}

export function openPosted(deps: IdentityDeps, purpose: string, sealed: string): FormFields | undefined {
  const opened = unseal(deps.keys.flow, Buffer.from(sealed, 'base64url'), purpose);
  if (!opened) return undefined;
  const { form, at } = JSON.parse(opened.toString()) as { form: [string, string[]][]; at: number };
  return deps.now().getTime() - at <= postedForMs ? new Map(form) : undefined;
}
