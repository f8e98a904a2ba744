import { randomUUID } from 'node:crypto';
import { lookUpBySystem } from '../../platform/name-lookup.ts';
import { callOutgoing, OutgoingFailed, OutgoingRefused } from '../../platform/outgoing.ts';
import { keyOfText, signedHeaders } from '../../platform/standard-webhooks.ts';
import { type SmsConfig, SmsFailed, type SmsSender } from './sender.ts';

/**
 * Posts each text as JSON to the operator's gateway. Any 2xx means that the gateway has taken it; a redirect is
 * an answer like any other and thus a failure. A connection that breaks is not tried again, not even when
 * nothing was answered yet: the gateway may have read the request, and a paid text would go twice.
 */
export function createHttpSender(config: Extract<SmsConfig, { kind: 'http' }>): SmsSender {
  // The operator has chosen this address, and a gateway often stands in the operator's own network.
  // Of the answer only the status counts, so nothing of its body is kept.
  const policy = { allowPrivate: true, timeoutMs: config.timeoutMs, maxResponseBytes: 0 };
  return {
    async send(phone, text) {
      const id = randomUUID();
      const body = JSON.stringify({ to: phone, text, id });
      // Who has recorded a request cannot make the gateway send its text again.
      const signed = signedHeaders({ id, at: new Date(), body }, [keyOfText(config.secret)]);
      const headers = { 'content-type': 'application/json', ...signed };
      const request = { method: 'POST', url: config.url, headers, body } as const;

      const { status } = await callOutgoing(request, policy, lookUpBySystem).catch(failed);
      if (status < 200 || status > 299)
        throw new SmsFailed(`The SMS gateway answered with status ${status}.`);
    },
    async close() {},
  };
}

function failed(error: unknown): never {
  if (error instanceof OutgoingRefused) {
    throw new SmsFailed(`The SMS gateway cannot be called. ${error.message}`);
  }
  if (error instanceof OutgoingFailed) {
    const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
    throw new SmsFailed(`The SMS gateway failed. ${error.message}${code ? ` (${code})` : ''}`);
  }
  throw error;
}
