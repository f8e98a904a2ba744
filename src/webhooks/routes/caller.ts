import type { FastifyRequest } from 'fastify';
import { uuid7Form } from '../../platform/uuid7.ts';
import { type Owner, ownerKey } from '../domain/owner.ts';
import { refuse } from '../errors.ts';
import type { WebhookRouteDeps } from '../plugin.ts';

/** Whose endpoints a request is about, and the name that goes into the audit. */
export function callerOf(deps: WebhookRouteDeps, request: FastifyRequest): { owner: Owner; actor: string } {
  const owner: Owner = { kind: 'merchant', id: deps.merchantOf(request) };
  return { owner, actor: ownerKey(owner) };
}

/** What is no id of ours names nothing, like any id of somebody else's. */
export function endpointIdOf(request: { params: { id: string } }): string {
  if (!uuid7Form.test(request.params.id)) throw refuse('webhook_endpoint_not_found');
  return request.params.id;
}
