import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { nullable, TimeJson } from '../../platform/openapi.ts';
import { bearerOf } from '../bearer.ts';
import type { IdentityDeps } from '../deps.ts';
import { emptyProfile, genders, type User, verificationStatuses } from '../domain/user.ts';
import { invalidToken } from '../errors.ts';
import { findTokenHolder } from '../store/token-holder.ts';
import { bearerResponses, bearerSecurity } from './openapi-parts.ts';

const Coded = (description: string) =>
  Type.Object({ id: Type.Integer(), value: Type.String() }, { description });

const Profile = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    sub: Type.String({ format: 'uuid' }),
    username: Type.String(),
    firstName: nullable(Type.String()),
    lastName: nullable(Type.String()),
    patronymic: nullable(Type.String()),
    pin: nullable(Type.String()),
    idCardNumber: nullable(Type.String()),
    profilePicture: nullable(Type.String()),
    birthDate: nullable(Type.String({ format: 'date' })),
    resident: nullable(Type.Boolean()),
    active: Type.Boolean(),
    verificationStatus: Coded('1 NOT_VERIFIED, 2 IN_REVIEW, 3 VERIFIED, 4 REJECTED'),
    gender: Coded('ISO/IEC 5218: 0 UNKNOWN, 1 MALE, 2 FEMALE, 9 NOT_APPLICABLE'),
    createdAt: TimeJson,
  },
  {
    examples: [
      {
        id: '0b6f2b1e-8c0a-4f8e-9d6b-5a1c7a1f0001',
        sub: '0b6f2b1e-8c0a-4f8e-9d6b-5a1c7a1f0001',
        username: '+994500000001',
        firstName: 'Aysel',
        lastName: 'Mammadova',
        patronymic: 'Rashid',
        pin: '5ABC123',
        idCardNumber: 'AA1234567',
        profilePicture: 'https://cdn.example.com/people/aysel.jpg',
        birthDate: '1990-04-21',
        resident: true,
        active: true,
        verificationStatus: { id: 3, value: 'VERIFIED' },
        gender: { id: 2, value: 'FEMALE' },
        createdAt: '2024-01-15T09:30:00.000Z',
      },
    ],
  },
);

const schema = {
  summary: 'Profile of the person',
  description:
    'Every field is always there, `null` when it is not known. `pin` and `idCardNumber` are given only to clients registered for identity documents; clients outside the ecosystem also need the person’s consent.',
  tags: ['Identity'],
  security: bearerSecurity,
  response: { 200: Profile, ...bearerResponses },
};

/** The profile in our own form; the standard claims are in standard-userinfo.ts. */
export const userinfo: FastifyPluginAsyncTypebox<IdentityDeps> = async (app, deps) => {
  app.route({
    method: ['GET', 'POST'],
    url: '/api/v1/openid-connect/userinfo',
    schema,
    handler: async (request) => {
      const token = await bearerOf(deps, request);
      const [holder, client] = await Promise.all([
        findTokenHolder(deps.db, deps.keys.documents, { ...token, now: deps.now() }),
        deps.clients.find(token.clientId),
      ]);
      if (!holder || !client) throw invalidToken();
      // The ecosystem is one house. Outside it a client sees what the person was shown when they consented.
      const trusted = client.audience === 'ecosystem';
      return profileJson(holder.user, {
        profile: trusted || token.scopes.includes('profile'),
        documents: client.identityDocuments && (trusted || holder.consentsToDocuments),
      });
    },
  });
};

function profileJson(user: User, released: { profile: boolean; documents: boolean }) {
  if (user.status === 'merged') throw new Error(`merged user ${user.id} passed for a token holder`);
  const { verificationStatus } = user.profile;
  const profile = released.profile ? user.profile : emptyProfile;
  return {
    id: user.id,
    sub: user.id,
    username: user.phone,
    firstName: profile.firstName,
    lastName: profile.lastName,
    patronymic: profile.patronymic,
    pin: released.documents ? user.profile.pin : null,
    idCardNumber: released.documents ? user.profile.idCardNumber : null,
    profilePicture: profile.profilePicture,
    birthDate: profile.birthDate,
    resident: profile.resident,
    active: user.status === 'active',
    verificationStatus: { id: verificationStatus, value: verificationStatuses[verificationStatus] },
    gender: { id: profile.gender, value: genders[profile.gender] },
    createdAt: user.createdAt.toISOString(),
  };
}
