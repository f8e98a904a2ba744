import { setTimeout as delay } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { listAudit as listCheckoutAudit } from '../checkout/store/audit.ts';
import { listAudit as listIdentityAudit } from '../identity/store/audit.ts';
import type { AuditFilter, AuditRow } from '../platform/audit.ts';
import { instant, wholeNumber } from './arguments.ts';
import { type Answer, addReading, onDatabase, print } from './command.ts';
import type { CommandDeps } from './deps.ts';
import { cellText, table } from './text.ts';

const areas = { identity: listIdentityAudit, checkout: listCheckoutAudit };
type Area = keyof typeof areas;
type Entry = AuditRow & { area: Area };

type Options = {
  follow?: true;
  area?: Area;
  actor?: string;
  action?: string;
  object?: string;
  since?: Date;
  limit?: number;
  json?: true;
};

export function auditCommands(program: Command): void {
  const audit = program.command('audit').description('who did what, and when');
  addReading(audit, 'tail', {
    about: 'show the newest entries of both areas, oldest first',
    examples: [
      'tollgate audit tail --limit 20',
      'tollgate audit tail --area checkout --actor cli:root@till-1 --since 2026-11-01',
      'tollgate audit tail --object shop --follow --json',
    ],
    json: {
      entries: [
        {
          area: 'identity',
          id: '118',
          at: '2026-11-15T12:00:00.000Z',
          actor: 'cli:root@till-1',
          action: 'client.disabled',
          object: 'shop',
          details: { clientId: 'shop' },
        },
      ],
    },
    more: 'With --follow it goes on until Ctrl-C; --json then prints one entry a line.',
  })
    .option('--follow', 'go on with what comes')
    .addOption(new Option('--area <area>', 'only this one').choices(Object.keys(areas)))
    .option('--actor <actor>', 'only what this one did')
    .option('--action <action>', 'only this, such as client.disabled')
    .option('--object <object>', 'only what was done to this person, client, merchant or terminal')
    .option('--since <instant>', 'only from then on', instant)
    .option('--limit <number>', 'how many at most (default: 50)', wholeNumber(1, 10_000))
    .action(onDatabase(tail));
}

async function tail(deps: CommandDeps, options: Options): Promise<Answer | undefined> {
  const limit = options.limit ?? 50;
  const entries = await read(deps, options, { since: options.since ?? null, limit });
  if (options.follow) {
    await follow(deps, options, entries);
    return undefined;
  }
  return {
    json: { entries: entries.map(entryJson) },
    text: table(
      ['AT', 'ACTOR', 'ACTION', 'OBJECT', 'DETAILS'],
      entries.map((entry) => [entry.at, entry.actor, entry.action, entry.object, detailsText(entry)]),
    ),
  };
}

async function read(
  deps: CommandDeps,
  options: Options,
  { since, limit }: Pick<AuditFilter, 'since' | 'limit'>,
): Promise<Entry[]> {
  const { actor = null, action = null, object = null } = options;
  const wanted = options.area ? [options.area] : (Object.keys(areas) as Area[]);
  const filter = { actor, action, object, since, limit };
  const found = await Promise.all(
    wanted.map(async (area) => (await areas[area](deps.db, filter)).map((row) => ({ ...row, area }))),
  );
  return found
    .flat()
    .sort((left, right) => left.at.getTime() - right.at.getTime() || Number(left.auditId - right.auditId))
    .slice(-limit);
}

/** An entry shows when its transaction commits, which may be after a later one has: so it looks back this far. */
const lookBackMs = 30_000;
const pauseMs = 1_000;

async function follow(deps: CommandDeps, options: Options, first: Entry[]): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  process.stdout.on('error', () => stop.abort());
  const show = (entry: Entry) => print(options.json ? JSON.stringify(entryJson(entry)) : line(entry));
  const readLately = () => {
    const since = Math.max(deps.now().getTime() - lookBackMs, options.since?.getTime() ?? 0);
    return read(deps, options, { since: new Date(since), limit: 10_000 });
  };

  // What was there before is known, whether or not it was asked for.
  let known = new Set([...(await readLately()), ...first].map(nameOf));
  for (const entry of first) show(entry);
  while (!stop.signal.aborted) {
    await delay(pauseMs, undefined, { signal: stop.signal }).catch(() => {});
    const entries = await readLately();
    for (const entry of entries) if (!known.has(nameOf(entry))) show(entry);
    known = new Set(entries.map(nameOf));
  }
}

function nameOf(entry: Entry): string {
  return `${entry.area} ${entry.auditId}`;
}

function entryJson(entry: Entry) {
  return {
    area: entry.area,
    id: String(entry.auditId),
    at: entry.at.toISOString(),
    actor: entry.actor,
    action: entry.action,
    object: entry.object,
    details: entry.details,
  };
}

function line(entry: Entry): string {
  return [entry.at, entry.actor, entry.action, entry.object, detailsText(entry)].map(cellText).join('  ');
}

function detailsText({ details }: Entry): string {
  return Object.entries(details)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}
