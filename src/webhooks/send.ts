import { callOutgoing, OutgoingFailed, OutgoingRefused } from '../platform/outgoing.ts';
import { unseal } from '../platform/seal.ts';
import { signedHeaders } from '../platform/standard-webhooks.ts';
import type { WebhookDeps } from './deps.ts';
import type { SealedSecrets } from './store/endpoints.ts';

export type Message = {
  endpointId: string;
  url: string;
  secrets: SealedSecrets;
  eventId: string;
  body: string;
};

export type Answer = {
  delivered: boolean;
  status: number | null;
  body: string | null;
  retryAfter: string | undefined;
  durationMs: number;
  /** A sentence for the owner of the endpoint; none when it went well. */
  detail: string | null;
};

/** Signs an event and sends it, once. Only a 2xx is a success; a redirect is not followed. */
export async function send(deps: WebhookDeps, message: Message): Promise<Answer> {
  const at = deps.now();
  const { eventId: id, body } = message;
  const begun = performance.now();
  const durationMs = () => Math.round(performance.now() - begun);
  try {
    const answer = await callOutgoing(
      {
        method: 'POST',
        url: message.url,
        headers: {
          'content-type': 'application/json',
          'user-agent': deps.userAgent,
          ...signedHeaders({ id, at, body }, liveSecrets(deps, message, at)),
        },
        body,
      },
      deps.outgoing,
      deps.resolve,
    );
    const delivered = answer.status >= 200 && answer.status < 300;
    return {
      delivered,
      status: answer.status,
      // PostgreSQL holds no NUL in a text.
      body: answer.body.replaceAll('\0', '\ufffd'),
      retryAfter: [answer.headers['retry-after']].flat()[0],
      durationMs: durationMs(),
      detail: delivered ? null : `The receiver answered ${answer.status}.`,
    };
  } catch (error) {
    if (!(error instanceof OutgoingRefused || error instanceof OutgoingFailed)) throw error;
    const { message: detail } = error;
    return {
      delivered: false,
      status: null,
      body: null,
      retryAfter: undefined,
      durationMs: durationMs(),
      detail,
    };
  }
}

function liveSecrets(deps: WebhookDeps, { endpointId, secrets }: Message, at: Date): Buffer[] {
  const { secretSealed, previousSecretSealed, previousSecretExpiresAt } = secrets;
  const isRotating = previousSecretExpiresAt !== null && previousSecretExpiresAt > at;
  return [secretSealed, ...(previousSecretSealed && isRotating ? [previousSecretSealed] : [])].map(
    (sealed) => {
      const secret = unseal(deps.secretsKey, sealed, endpointId);
      if (!secret) throw new Error(`a secret of webhook endpoint ${endpointId} was not sealed with this key`);
      return secret;
    },
  );
}
