import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { allRefusals } from '../src/app.ts';
import { shown } from '../src/cli/command.ts';
import { buildProgram } from '../src/cli/program.ts';
import { shortJson } from '../src/cli/text.ts';
import { packageRoot } from '../src/package.ts';
import { isRetryable } from '../src/platform/problem.ts';
import { settings } from '../src/setting-table.ts';

const all = Object.values(settings);
const groups = [...new Set(all.map((setting) => setting.group))];
const program = await buildProgram();

/** Files that are written from the code; a test keeps them equal to it. */
export function generatedFiles(): Record<string, string> {
  return {
    'docs/configuration.md': configurationPage(),
    '.env.example': envExample(),
    'docs/errors.md': errorsPage(),
    'docs/command-line.md': commandLinePage(),
  };
}

function configurationPage(): string {
  const tables = groups.map((group) => {
    const rows = all
      .filter((setting) => setting.group === group)
      .map((setting) => {
        const name = setting.secret
          ? `\`${setting.name}\`<br>\`${setting.name}_FILE\``
          : `\`${setting.name}\``;
        const { text, value } = setting.fallback;
        return `| ${name} | ${setting.about} | ${setting.values} | ${value === undefined ? text : `\`${text}\``} |`;
      });
    return `## ${group}\n\n| variable | what it is | values | default |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return `# Configuration

<!-- Written by \`npm run docs\` from src/setting-table.ts. -->

Everything is an environment variable, read and checked once at start. Faults are reported all together, each
with what to do about it, and the process exits with 1. A secret may also come from a file that the variable
with the ending \`_FILE\` names; setting both is a fault. In \`local\` a file \`.env\` in the working folder is read too.

${tables.join('\n')}
## What is refused in dmz and production

The process does not start when an address is not https, a secret is missing, short or a known demo value, test
phones are set, the console SMS sender is chosen, \`TRUST_PROXY\` or \`DATABASE_URL\` is not set (the embedded
database has to be asked for with \`DATABASE_URL=embedded\`), or \`ADMIN_PORT\` is the public port. The same holds
for \`CHECKOUT_ENV=production\`, which refuses the sandbox acquirer as well.
`;
}

function envExample(): string {
  const sections = groups.map((group) => {
    const lines = all
      .filter((setting) => setting.group === group)
      .map((setting) => {
        const shown = setting.fallback.text.replaceAll('`', '');
        return `# ${setting.about.replaceAll('`', '')}\n# Values: ${setting.values.replaceAll('`', '')}. Default: ${shown}.\n#${setting.name}=${setting.fallback.value ?? ''}\n`;
      });
    return `## ${group}\n\n${lines.join('\n')}`;
  });
  return `# Copy to .env for a local start. Written by \`npm run docs\` from src/setting-table.ts.\n\n${sections.join('\n')}`;
}

function errorsPage(): string {
  const rows = Object.entries(allRefusals).map(
    ([code, row]) => `| \`${code}\` | ${row[0]} | ${row[1]} | ${isRetryable(row) ? 'yes' : 'no'} |`,
  );
  return `# Errors

<!-- Written by \`npm run docs\` from the tables of refusals in the code. -->

Errors are problem documents (RFC 9457, \`application/problem+json\`):

\`\`\`json
{
  "type": "https://id.example.com/docs/errors#invalid_request",
  "title": "The request does not have the form that this call takes.",
  "status": 400,
  "detail": "See \`errors\` for each fault.",
  "code": "invalid_request",
  "requestId": "3f0c6f5e-7f0e-4c0e-9d43-6f6f6a1a7c55",
  "retryable": false,
  "errors": [{ "pointer": "/amount/value", "detail": "This field is required." }]
}
\`\`\`

\`code\` is stable and safe to branch on. \`requestId\` also stands in the header \`X-Request-Id\` and in our log: quote it
when you ask for help. \`retryable\` says whether the very same request may be sent again.

Token, introspection and revocation answer in OAuth's form instead, \`error\` and \`error_description\`: see
[identity.md](identity.md#4-tokens).

| code | status | meaning | retryable |
|---|---|---|---|
${rows.join('\n')}
`;
}

function commandLinePage(): string {
  const sections = program.commands.map((group) =>
    group.commands.length === 0
      ? commandSection(group, [group.name()], '##')
      : `## ${group.name()}: ${group.description()}\n\n${group.commands
          .map((command) => commandSection(command, [group.name(), command.name()], '###'))
          .join('\n')}`,
  );
  return `# The command line

<!-- Written by \`npm run docs\` from src/cli. -->

\`tollgate\` looks after an installation without touching SQL: \`npx tollgate\` in the folder of the package, once it is
built (\`npm run build\`; \`npm start\` builds too). It takes the same settings as the server ([configuration.md](configuration.md)) and works
on the same database, beside running servers or without any. An embedded database that nobody runs is started for the
length of the command.

**Output.** Tables and lines for people; with \`--json\` every command prints the same for programs, in the form that it shows below.
What goes wrong is one sentence on standard error:

| exit code | meaning |
|---|---|
| 0 | done, and all is well |
| 1 | the answer is no: what was asked for is not there or cannot be done as things stand, or a check has found a fault |
| 2 | it could not be tried: a wrong argument, a wrong setting, no database, or one of another version |

**Secrets** are shown once, when they are made. None is ever taken from the command line, which everybody on a machine can
read: \`--secret-from\` takes a file, or \`-\` for standard input, and document numbers of people come the same way (\`--profile\`).

**Who did it.** Every change writes a row into the audit in the same transaction: who, what, when. Who is \`cli:USER@HOST\`, or what
\`--actor\` says, which every command that changes something takes; \`tollgate audit tail\` shows the rows. They cannot be changed or deleted.

**Beside running servers** nothing has to be restarted:

| what changes | when every server goes by it |
|---|---|
| people, sessions, tokens of people, wallets | at once |
| clients and their secrets, merchants, terminals | within a second |
| signing keys | published within a minute, and used 15 minutes after they were made |

${sections.join('\n')}`;
}

function commandSection(command: Command, path: string[], heading: string): string {
  const given = shown(command);
  if (!given) throw new Error(`${path.join(' ')} shows nothing of itself`);
  const takes = command.registeredArguments.map((argument) =>
    argument.required ? ` <${argument.name()}>` : ` [${argument.name()}]`,
  );
  const own = command.options.filter((option) => !/^--(json|actor <name>)$/.test(option.flags));
  const rows = own.map((option) => {
    const choices = option.argChoices ? `: ${option.argChoices.map((one) => `\`${one}\``).join(', ')}` : '';
    const need = option.mandatory ? ' **required**' : '';
    return `| \`${option.flags}\`${need} | ${option.description}${choices} |`;
  });
  return `${heading} \`tollgate ${path.join(' ')}${takes.join('')}\`

${sentence(given.about)}${given.more ? ` ${given.more.replaceAll('\n', ' ')}` : ''}

${rows.length > 0 ? `| option | |\n|---|---|\n${rows.join('\n')}\n\n` : ''}\`\`\`sh
${given.examples.join('\n')}
\`\`\`

\`\`\`json
${shortJson(given.json)}
\`\`\`
`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

if (process.argv[1]?.endsWith('scripts/generate-docs.ts')) {
  for (const [path, content] of Object.entries(generatedFiles()))
    writeFileSync(new URL(path, packageRoot), content);
}
