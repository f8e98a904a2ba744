import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { bearerOf } from '../bearer.ts';
import type { IdentityDeps } from '../deps.ts';
import type { User } from '../domain/user.ts';
import { invalidToken } from '../errors.ts';
import { findTokenHolder } from '../store/token-holder.ts';
import { bearerResponses, bearerSecurity } from './openapi-parts.ts';

const text = Type.Optional(Type.String());

const schema = {
  summary: 'Standard claims of the person',
  description:
    'OpenID Connect Core, 5.1: what the scopes `profile` and `phone` ask for, as far as it is known.',
  tags: ['Identity'],
  security: bearerSecurity,
  response: {
    200: Type.Object(
      {
        sub: Type.String({ format: 'uuid' }),
        name: text,
        given_name: text,
        family_name: text,
        middle_name: text,
        preferred_username: text,
        picture: text,
        gender: text,
        birthdate: text,
        updated_at: Type.Optional(Type.Integer()),
        phone_number: text,
        phone_number_verified: Type.Optional(Type.Boolean()),
      },
      {
        examples: [
          {
            sub: '0b6f2b1e-8c0a-4f8e-9d6b-5a1c7a1f0001',
            name: 'Aysel Mammadova',
            given_name: 'Aysel',
            family_name: 'Mammadova',
            preferred_username: '+994500000001',
            gender: 'female',
            birthdate: '1990-04-21',
            phone_number: '+994500000001',
            phone_number_verified: true,
          },
        ],
      },
    ),
    ...bearerResponses,
  },
};

/** The form that client libraries expect; this one is named in discovery. */
export const standardUserinfo: FastifyPluginAsyncTypebox<IdentityDeps> = async (app, deps) => {
  app.route({
    method: ['GET', 'POST'],
    url: '/api/v2/openid-connect/userinfo',
    schema,
    handler: async (request) => {
      const token = await bearerOf(deps, request);
      const holder = await findTokenHolder(deps.db, deps.keys.documents, { ...token, now: deps.now() });
      if (!holder) throw invalidToken();
      return {
        sub: holder.user.id,
        ...(token.scopes.includes('profile') ? profileClaims(holder.user) : {}),
        ...(token.scopes.includes('phone') ? phoneClaims(holder.user) : {}),
      };
    },
  });
};

const genderClaims: Partial<Record<number, string>> = { 1: 'male', 2: 'female' };

function profileClaims({ profile, updatedAt, ...user }: User) {
  return known({
    name: [profile.firstName, profile.lastName].filter((part) => part !== null).join(' '),
    given_name: profile.firstName,
    family_name: profile.lastName,
    middle_name: profile.patronymic,
    preferred_username: user.status === 'merged' ? null : user.phone,
    picture: profile.profilePicture,
    gender: genderClaims[profile.gender],
    birthdate: profile.birthDate,
    updated_at: Math.floor(updatedAt.getTime() / 1000),
  });
}

function phoneClaims(user: User) {
  return user.status === 'merged' ? {} : { phone_number: user.phone, phone_number_verified: true };
}

/** OIDC Core, 5.3.2: a claim that has no value is left out rather than null. */
function known<Claims extends Record<string, string | number | null | undefined>>(claims: Claims) {
  type Known = { [Key in keyof Claims]?: Exclude<Claims[Key], null | undefined> };
  return Object.fromEntries(
    Object.entries(claims).filter(([, value]) => value !== null && value !== undefined && value !== ''),
  ) as Known;
}
