import { createHash, randomUUID } from 'node:crypto';
import type { IdentityDeps } from './deps.ts';
import type { Profile, UserId } from './domain/user.ts';
import { registerClient } from './register-client.ts';
import type { NewClient } from './store/clients.ts';
import { createUser, deactivateUser, mergeUsers, UserRefused } from './users.ts';

export type DemoClients = {
  partner: {
    clientId: string;
    clientSecret: string;
    scopes: string;
    redirectUris: string[];
    postLogoutRedirectUris: string[];
  };
  merchant: { merchantId: string; clientId: string; clientSecret: string };
  people: { phone: string }[];
};

type DemoDeps = Pick<IdentityDeps, 'db' | 'now' | 'config' | 'users'>;

const id = (last: string) => `0b6f2b1e-8c0a-4f8e-9d6b-5a1c7a1f${last}` as UserId;

const aysel: Partial<Profile> = {
  firstName: 'Aysel',
  lastName: 'Məmmədova',
  patronymic: 'Rəşid qızı',
  pin: '5DEMO01',
  idCardNumber: 'AA0000001',
  birthDate: '1990-04-21',
  resident: true,
  verificationStatus: 3,
  gender: 2,
};

/** Loads what the first page promises. Whatever is there already stays as it is. */
export async function seedIdentity(
  deps: DemoDeps,
  demo: DemoClients,
  actor: string,
): Promise<{ walletUserId: string }> {
  const { partner, merchant } = demo;
  await registerClient(
    deps,
    {
      ...defaults,
      id: randomUUID(),
      clientId: partner.clientId,
      name: 'Demo Shop',
      grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'],
      scopes: partner.scopes.split(' '),
      redirectUris: partner.redirectUris,
      postLogoutRedirectUris: partner.postLogoutRedirectUris,
      secretHash: createHash('sha256').update(partner.clientSecret).digest(),
      identityDocuments: true,
    },
    actor,
  );
  await registerClient(
    deps,
    {
      ...defaults,
      id: randomUUID(),
      clientId: merchant.clientId,
      name: 'Demo Merchant',
      grantTypes: ['client_credentials'],
      scopes: ['payments', 'refunds', 'webhooks'],
      secretHash: createHash('sha256').update(merchant.clientSecret).digest(),
      identityDocuments: false,
      merchantId: merchant.merchantId,
    },
    actor,
  );

  const [first, second, third] = demo.people;
  if (first && (await add(deps, actor, id('0001'), first.phone, aysel))) {
    for (const [old, phone] of [
      [id('0101'), '+994500000091'],
      [id('0102'), '+994500000092'],
    ] as const) {
      await add(deps, actor, old, phone);
      const merge = { survivorId: id('0001'), absorbedId: old, phone: 'free' as const, actor };
      await mergeUsers({ ...deps.users, onMerged: async () => {} }, merge);
    }
  }
  if (second) await add(deps, actor, id('0002'), second.phone);
  if (third && (await add(deps, actor, id('0003'), third.phone)))
    await deactivateUser(deps.users, { userId: id('0003'), actor });
  return { walletUserId: id('0001') };
}

const defaults: Omit<
  NewClient,
  'id' | 'clientId' | 'name' | 'grantTypes' | 'scopes' | 'secretHash' | 'identityDocuments'
> = {
  audience: 'ecosystem',
  redirectUris: [],
  postLogoutRedirectUris: [],
  backchannelLogoutUri: null,
  requirePkce: true,
  requireState: true,
  accessTokenAlg: 'ES256',
  idTokenAlg: 'ES256',
  accessTokenSeconds: 300,
  refreshTokenSeconds: 1800,
  merchantId: null,
};

/** False when the person, or somebody with the number, was there before. */
async function add(
  deps: DemoDeps,
  actor: string,
  userId: UserId,
  phone: string,
  profile: Partial<Profile> = {},
): Promise<boolean> {
  try {
    await createUser(deps.users, { id: userId, phone, profile, actor });
    return true;
  } catch (error) {
    if (error instanceof UserRefused) return false;
    throw error;
  }
}
