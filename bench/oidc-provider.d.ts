/** The part of the peer that the benchmark uses; the package brings no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  type Fields = Record<string, unknown>;
  type Stored = { save(): Promise<string> };

  export class Provider {
    constructor(issuer: string, configuration: Fields);
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    on(event: string, listener: (context: unknown, error: Error) => void): void;
    Client: { find(clientId: string): Promise<unknown> };
    Grant: new (
      fields: Fields,
    ) => Stored & {
      addOIDCScope(scope: string): void;
      addResourceScope(resource: string, scope: string): void;
    };
    AuthorizationCode: new (
      fields: Fields,
    ) => Stored;
    RefreshToken: new (
      fields: Fields,
    ) => Stored;
    AccessToken: new (
      fields: Fields,
    ) => Stored;
  }
}
