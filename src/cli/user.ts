import { type Command, Option } from 'commander';
import { moveWallets } from '../checkout/move-wallets.ts';
import type { Profile, User, UserId } from '../identity/domain/user.ts';
import { listSessions } from '../identity/store/sessions.ts';
import {
  createUser,
  deactivateUser,
  logOutUser,
  mergeUsers,
  reactivateUser,
  showUser,
  UserRefused,
  updateUser,
} from '../identity/users.ts';
import { OperatorRefusal } from '../platform/operator-refusal.ts';
import { repeated, uuid, visibleText } from './arguments.ts';
import { type Answer, addChanging, addReading, onDatabase } from './command.ts';
import type { CommandDeps } from './deps.ts';
import { findPerson, type Person, person, personAbout, phoneNumber } from './find-person.ts';
import {
  genderNames,
  optionOf,
  type ProfileOptions,
  profileChanges,
  profileJson,
  profileText,
  verificationNames,
} from './profile.ts';
import { record, table } from './text.ts';

const example = {
  id: '0b6f2b1e-8c0a-4f8e-9d6b-5a1c7a1f0001',
  status: 'active',
  phone: '+994500000001',
  mergedInto: null,
  profile: {
    firstName: 'Aysel',
    lastName: 'Məmmədova',
    patronymic: null,
    pin: '*****01',
    idCardNumber: '*******01',
    profilePicture: null,
    birthDate: '1990-04-21',
    resident: true,
    verificationStatus: 'VERIFIED',
    gender: 'FEMALE',
  },
  oldCustomerIds: [],
  createdAt: '2026-11-15T12:00:00.000Z',
  updatedAt: '2026-11-15T12:00:00.000Z',
};

export function userCommands(program: Command): void {
  const user = program.command('user').description('the people who log in');
  withProfile(
    addChanging(user, 'create', {
      about: 'make an account for a phone number',
      examples: [
        'tollgate user create --phone +994500000004 --first-name Aysel --verification verified',
        'tollgate user create --phone +994500000004 --profile - < aysel.json',
      ],
      json: { user: example },
      more: 'Document numbers (pin, idCardNumber) come in the file of --profile only: command lines can be read by everybody.',
    }).requiredOption('--phone <number>', 'the number that the person logs in with', phoneNumber),
  ).action(onDatabase(create));
  addReading(user, 'show', {
    about: 'show a person, with document numbers masked',
    examples: [
      'tollgate user show +994500000001',
      'tollgate user show +994500000001 --documents --actor aysel',
    ],
    json: { user: example },
  })
    .argument('<user>', personAbout, person)
    .option('--documents', 'show the document numbers; this leaves a row in the audit')
    .option(
      '--actor <name>',
      'who looks, as the audit shall name them (default: cli:USER@HOST)',
      visibleText(100),
    )
    .action(onDatabase(show));
  withProfile(
    addChanging(user, 'update', {
      about: 'change the profile or the phone number of a person; what is not given stays',
      examples: [
        'tollgate user update +994500000001 --last-name Quliyeva --clear patronymic',
        'tollgate user update +994500000001 --phone +994500000009',
      ],
      json: { user: example, changed: ['lastName'] },
      more: 'A new number ends all sessions: who held the old one has to prove the new one.',
    })
      .argument('<user>', personAbout, person)
      .option('--phone <number>', 'the number that the person logs in with from now on', phoneNumber)
      .option('--clear <field>', 'forget this field of the profile; may be repeated', repeated),
  ).action(onDatabase(update));
  addChanging(user, 'deactivate', {
    about: 'shut an account and end its sessions',
    examples: ['tollgate user deactivate +994500000001'],
    json: { userId: example.id, status: 'inactive', changed: true },
  })
    .argument('<user>', personAbout, person)
    .action(onDatabase(deactivate));
  addChanging(user, 'reactivate', {
    about: 'open an account again',
    examples: ['tollgate user reactivate +994500000001'],
    json: { userId: example.id, status: 'active', changed: true },
  })
    .argument('<user>', personAbout, person)
    .action(onDatabase(reactivate));
  addChanging(user, 'merge', {
    about: 'fold one account into another, for ever, with its wallets',
    examples: ['tollgate user merge +994500000002 --into +994500000001 --number free --yes'],
    json: { survivorId: example.id, absorbedId: '0b6f2b1e-8c0a-4f8e-9d6b-5a1c7a1f0002', merged: true },
    more: 'The identifier of the absorbed account becomes an old one of the other, and its sessions end. Run twice, it does nothing the second time.',
  })
    .argument('<absorbed>', personAbout, person)
    .requiredOption('--into <user>', `the account that lives on: ${personAbout}`, person)
    .addOption(
      new Option(
        '--number <fate>',
        'the absorbed number becomes free, or the other account takes it (default: free)',
      ).choices(['free', 'take']),
    )
    .option('--yes', 'it is meant: this cannot be undone')
    .action(onDatabase(merge));
  addReading(user, 'sessions', {
    about: 'list the open sessions of a person, newest first',
    examples: ['tollgate user sessions +994500000001', 'tollgate user sessions +994500000001 --ended'],
    json: {
      sessions: [
        {
          sid: '4c8f1f6e-5b0e-4b27-9a55-2f0e8a6d7c33',
          status: 'open',
          clients: ['shop'],
          authTime: '2026-11-15T12:00:00.000Z',
          lastSeenAt: '2026-11-15T12:10:00.000Z',
          expiresAt: '2026-11-15T22:00:00.000Z',
          endedAt: null,
          endReason: null,
        },
      ],
    },
  })
    .argument('<user>', personAbout, person)
    .option('--ended', 'also those that have ended, as long as they are kept; at most 100')
    .action(onDatabase(sessions));
  addChanging(user, 'logout', {
    about: 'end the sessions of a person, and have their clients told',
    examples: [
      'tollgate user logout +994500000001',
      `tollgate user logout +994500000001 --session ${example.id}`,
    ],
    json: { userId: example.id, sessionsEnded: 2 },
    more: 'Tokens stop at once. Clients with a back-channel logout address are told by the server, as after any logout.',
  })
    .argument('<user>', personAbout, person)
    .option('--session <sid>', 'only this session', uuid)
    .action(onDatabase(logOut));
}

function withProfile(command: Command): Command {
  return command
    .option('--first-name <text>', 'first name')
    .option('--last-name <text>', 'last name')
    .option('--patronymic <text>', 'patronymic')
    .option('--birth-date <day>', 'such as 1990-04-21')
    .addOption(new Option('--resident <answer>', 'whether a resident').choices(['yes', 'no']))
    .addOption(new Option('--gender <gender>', 'by ISO/IEC 5218').choices(genderNames))
    .addOption(new Option('--verification <status>', 'verification status').choices(verificationNames))
    .option('--picture <url>', 'address of a picture')
    .option('--profile <file>', 'JSON with any fields of the profile; - is standard input');
}

async function create(deps: CommandDeps, options: ProfileOptions & { phone: string }): Promise<Answer> {
  const profile = profileChanges(options);
  const { phone } = options;
  const id = await namingFields(() => createUser(deps.users, { phone, profile, actor: deps.actor }));
  return shownPerson(deps, { id });
}

async function show(deps: CommandDeps, options: { documents?: true }, named: Person): Promise<Answer> {
  return shownPerson(deps, named, { documents: options.documents === true });
}

async function update(
  deps: CommandDeps,
  options: ProfileOptions & { phone?: string },
  named: Person,
): Promise<Answer> {
  const changes = profileChanges(options);
  const { phone } = options;
  if (phone === undefined && Object.keys(changes).length === 0) {
    throw new OperatorRefusal('given', 'Nothing to change was given; see tollgate user update --help');
  }
  const { user } = await findPerson(deps, named);
  const changed = await namingFields(() =>
    updateUser(deps.users, { userId: user.id, actor: deps.actor, phone, changes }),
  );
  const answer = await shownPerson(deps, { id: user.id });
  return { ...answer, json: { ...answer.json, changed } };
}

async function deactivate(deps: CommandDeps, _options: object, named: Person): Promise<Answer> {
  const { user } = await findPerson(deps, named);
  const changed = await deactivateUser(deps.users, { userId: user.id, actor: deps.actor });
  return {
    json: { userId: user.id, status: 'inactive', changed },
    text: `The account ${user.id} ${changed ? 'is' : 'was already'} inactive.`,
  };
}

async function reactivate(deps: CommandDeps, _options: object, named: Person): Promise<Answer> {
  const { user } = await findPerson(deps, named);
  const changed = await reactivateUser(deps.users, { userId: user.id, actor: deps.actor });
  return {
    json: { userId: user.id, status: 'active', changed },
    text: `The account ${user.id} ${changed ? 'is' : 'was already'} active.`,
  };
}

async function merge(
  deps: CommandDeps,
  options: { into: Person; number?: 'free' | 'take'; yes?: true },
  absorbed: Person,
): Promise<Answer> {
  if (!options.yes) {
    throw new OperatorRefusal('given', 'A merge cannot be undone; add --yes when it is meant.');
  }
  const absorbedId = (await findPerson(deps, absorbed)).user.id;
  const into = (await findPerson(deps, options.into)).user.id;
  const { survivorId, merged } = await mergeUsers(
    { ...deps.users, onMerged: (tx, ids) => moveWallets(deps.checkout, tx, ids) },
    { survivorId: into, absorbedId, phone: options.number ?? 'free', actor: deps.actor },
  );
  return {
    json: { survivorId, absorbedId, merged },
    text: merged
      ? `The account ${absorbedId} is now part of ${survivorId}.`
      : `The account ${absorbedId} was part of ${survivorId} before.`,
  };
}

async function sessions(deps: CommandDeps, { ended }: { ended?: true }, named: Person): Promise<Answer> {
  const { user } = await findPerson(deps, named);
  const rows = await listSessions(deps.db, { userId: user.id, ended: ended === true, limit: 100 });
  const found = rows.map((row) => ({
    sid: row.sid,
    status: row.endedAt ? 'ended' : 'open',
    clients: row.clients,
    authTime: row.authTime.toISOString(),
    lastSeenAt: row.lastSeenAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    endedAt: row.endedAt?.toISOString() ?? null,
    endReason: row.endReason,
  }));
  return {
    json: { sessions: found },
    text: table(
      ['SESSION', 'STATUS', 'LOGGED IN', 'LAST SEEN', 'ENDS', 'CLIENTS'],
      rows.map((row) => [
        row.sid,
        row.endReason ?? 'open',
        row.authTime,
        row.lastSeenAt,
        row.endedAt ?? row.expiresAt,
        row.clients,
      ]),
    ),
  };
}

async function logOut(deps: CommandDeps, { session }: { session?: string }, named: Person): Promise<Answer> {
  const { user } = await findPerson(deps, named);
  const sessionsEnded = await logOutUser(deps.users, { userId: user.id, actor: deps.actor, sid: session });
  return {
    json: { userId: user.id, sessionsEnded },
    text: `${sessionsEnded} ${sessionsEnded === 1 ? 'session has' : 'sessions have'} ended.`,
  };
}

async function shownPerson(
  deps: CommandDeps,
  named: Person,
  { documents } = { documents: false },
): Promise<Answer> {
  const { user, oldUserIds } = await showUser(deps.users, { ...named, documents, actor: deps.actor });
  const profile = profileJson(user.profile, { documents });
  const account = accountOf(user);
  return {
    json: {
      user: {
        ...account,
        profile,
        oldCustomerIds: oldUserIds,
        createdAt: user.createdAt.toISOString(),
        updatedAt: user.updatedAt.toISOString(),
      },
    },
    text: record({
      user: account.id,
      status: account.status,
      phone: account.phone,
      'merged into': account.mergedInto,
      ...profileText(profile),
      'old identifiers': oldUserIds,
      created: user.createdAt,
      updated: user.updatedAt,
    }),
  };
}

function accountOf(user: User): {
  id: UserId;
  status: string;
  phone: string | null;
  mergedInto: string | null;
} {
  return user.status === 'merged'
    ? { id: user.id, status: user.status, phone: null, mergedInto: user.mergedInto }
    : { id: user.id, status: user.status, phone: user.phone, mergedInto: null };
}

/** A profile's faults by the options they were given with. */
async function namingFields<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UserRefused) || error.fields.length === 0) throw error;
    const named = error.fields.map((field: keyof Profile) => `${optionOf[field]} (${field})`);
    throw new OperatorRefusal(
      'given',
      `${named.join(', ')}: the value is not one that the profile can hold.`,
    );
  }
}
