import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { equalInConstantTime, mac, seal, unseal } from '../platform/seal.ts';
import type { IdentityDeps } from './deps.ts';
import type { KnownDevice } from './one-time-codes.ts';

const daySeconds = 24 * 3600;
const yearSeconds = 365 * daySeconds;
/** A shared phone or computer rarely has more people than this. */
const mostPhones = 5;

/**
 * The anonymous name of this browser; one that has none gets one with the answer. It is good for another day each
 * time, or a login that is under way when the day is over would lose its cookie halfway.
 */
export function browserOf(deps: IdentityDeps, request: FastifyRequest, reply: FastifyReply): string {
  const browser = knownBrowserOf(deps, request) ?? randomBytes(16).toString('base64url');
  deps.cookies.set(reply, 'browser', browser, daySeconds);
  return browser;
}

export function knownBrowserOf(deps: IdentityDeps, request: FastifyRequest): string | undefined {
  const value = deps.cookies.read(request, 'browser');
  return value && /^[\w-]{22}$/.test(value) ? value : undefined;
}

/** The token that a form of ours brings back. It follows from the browser's cookie, which another site cannot read. */
export function csrfTokenOf(deps: IdentityDeps, browser: string): string {
  return mac(deps.keys.csrf, browser).toString('base64url');
}

export function isCsrfTokenOf(deps: IdentityDeps, browser: string, token: string): boolean {
  return equalInConstantTime(Buffer.from(csrfTokenOf(deps, browser)), Buffer.from(token));
}

type Device = { id: string; phones: string[]; at: number };

/** This device, if somebody has logged in on it with this number before. */
export function deviceKnownFor(
  deps: IdentityDeps,
  request: FastifyRequest,
  phone: string,
): KnownDevice | undefined {
  const device = readDevice(deps, request);
  return device?.phones.includes(phoneMark(deps, phone))
    ? { id: device.id, lastLogin: new Date(device.at) }
    : undefined;
}

export function rememberDevice(
  deps: IdentityDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  phone: string,
): void {
  const device = readDevice(deps, request) ?? {
    id: randomBytes(16).toString('base64url'),
    phones: [] as string[],
  };
  const mark = phoneMark(deps, phone);
  const phones = [mark, ...device.phones.filter((other) => other !== mark)].slice(0, mostPhones);
  const value = seal(
    deps.keys.device,
    JSON.stringify({ id: device.id, phones, at: deps.now().getTime() }),
  ).toString('base64url');
  deps.cookies.set(reply, 'device', value, yearSeconds);
}

function readDevice(deps: IdentityDeps, request: FastifyRequest): Device | undefined {
  const value = deps.cookies.read(request, 'device');
  const opened = value && unseal(deps.keys.device, Buffer.from(value, 'base64url'));
  if (!opened) return undefined;
  const device = JSON.parse(opened.toString()) as Device;
  // The browser forgets the cookie after a year; somebody who has copied it need not.
  return deps.now().getTime() - device.at < yearSeconds * 1000 ? device : undefined;
}

/** The cookie does not say which numbers it knows. */
function phoneMark(deps: IdentityDeps, phone: string): string {
  return mac(deps.keys.device, phone).subarray(0, 16).toString('base64url');
}
