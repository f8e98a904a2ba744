import { type Command, Option } from 'commander';
import { type Algorithm, algorithms } from '../identity/domain/algorithm.ts';
import {
  type Client,
  type GrantType,
  grantTypes,
  merchantScopes,
  personScopes,
} from '../identity/domain/client.ts';
import type { ClientSettings } from '../identity/store/clients.ts';
import { OperatorRefusal } from '../platform/operator-refusal.ts';
import { repeated, visibleText, wholeNumber, words } from './arguments.ts';

export type SettingOptions = {
  name?: string;
  audience?: Client['audience'];
  grant?: string[];
  scope?: string[];
  redirectUri?: string[];
  postLogoutRedirectUri?: string[];
  backchannelLogoutUri?: string;
  accessTokenAlg?: Algorithm;
  idTokenAlg?: Algorithm;
  accessTokenSeconds?: number;
  refreshTokenSeconds?: number;
  pkce?: boolean;
  state?: boolean;
  identityDocuments?: boolean;
};

/** By these names the faults of a registration are told. */
export const optionOf = {
  clientId: '<client>',
  name: '--name',
  merchantId: '--merchant',
  grantTypes: '--grant',
  scopes: '--scope',
  redirectUris: '--redirect-uri',
  postLogoutRedirectUris: '--post-logout-redirect-uri',
  backchannelLogoutUri: '--backchannel-logout-uri',
  accessTokenSeconds: '--access-token-seconds',
  refreshTokenSeconds: '--refresh-token-seconds',
};

/** The options that create and update share. */
export function withSettings(command: Command): Command {
  if (command.name() === 'update')
    command.option('--name <text>', 'what people see when they log in', visibleText(100));
  return command
    .addOption(
      new Option('--audience <audience>', 'ecosystem partners skip consent (default: ecosystem)').choices([
        'ecosystem',
        'external',
      ]),
    )
    .option('--grant <types>', `any of ${grantTypes.join(', ')}`, words)
    .option('--scope <scopes>', `any of ${[...personScopes, ...merchantScopes].join(', ')}`, words)
    .option('--redirect-uri <uri>', 'where people come back to; may be repeated', repeated)
    .option('--post-logout-redirect-uri <uri>', 'where they go after logout; may be repeated', repeated)
    .option('--backchannel-logout-uri <uri>', 'the address that is told when a session ends')
    .addOption(
      new Option('--access-token-alg <alg>', 'signs access tokens (default: ES256)').choices(algorithms),
    )
    .addOption(new Option('--id-token-alg <alg>', 'signs ID tokens (default: ES256)').choices(algorithms))
    .option(
      '--access-token-seconds <seconds>',
      'life of an access token (default: 300)',
      wholeNumber(30, 3600),
    )
    .option(
      '--refresh-token-seconds <seconds>',
      'life of a refresh token (default: 1800)',
      wholeNumber(60, 36_000),
    )
    .option('--pkce', 'ask for PKCE (default)')
    .option('--no-pkce', 'do not ask for PKCE')
    .option('--state', 'ask for state (default)')
    .option('--no-state', 'do not ask for state')
    .option('--identity-documents', 'may see document numbers (default for ecosystem)')
    .option('--no-identity-documents', 'may not see document numbers (default for external)');
}

export function settingsOf(options: SettingOptions): Partial<ClientSettings> {
  const { backchannelLogoutUri: address } = options;
  const settings = {
    name: options.name,
    audience: options.audience,
    grantTypes: options.grant && grantsOf(options.grant),
    scopes: options.scope,
    redirectUris: options.redirectUri,
    postLogoutRedirectUris: options.postLogoutRedirectUri,
    backchannelLogoutUri: address === 'none' ? null : address,
    accessTokenAlg: options.accessTokenAlg,
    idTokenAlg: options.idTokenAlg,
    accessTokenSeconds: options.accessTokenSeconds,
    refreshTokenSeconds: options.refreshTokenSeconds,
    requirePkce: options.pkce,
    requireState: options.state,
    identityDocuments: options.identityDocuments,
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

function grantsOf(given: string[]): GrantType[] {
  return given.map((one) => {
    const found = grantTypes.find((type) => type === one);
    if (found) return found;
    throw new OperatorRefusal('given', `--grant: ${one} is not one of ${grantTypes.join(', ')}.`);
  });
}
