import { writeFileSync } from 'node:fs';
import { allRefusals, packageRoot } from '../src/app.ts';
import { settings } from '../src/config.ts';
import { isRetryable } from '../src/platform/problem.ts';

const all = Object.values(settings);
const groups = [...new Set(all.map((setting) => setting.group))];

/** Files that are written from the code; a test keeps them equal to it. */
export function generatedFiles(): Record<string, string> {
  return {
    'docs/configuration.md': configurationPage(),
    '.env.example': envExample(),
    'docs/errors.md': errorsPage(),
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

<!-- Written by \`npm run docs\` from src/config.ts. -->

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
  return `# Copy to .env for a local start. Written by \`npm run docs\` from src/config.ts.\n\n${sections.join('\n')}`;
}

function errorsPage(): string {
  const rows = Object.entries(allRefusals).map(
    ([code, [status, title]]) =>
      `| \`${code}\` | ${status} | ${title} | ${isRetryable({ code, status }) ? 'yes' : 'no'} |`,
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

| code | status | meaning | retryable |
|---|---|---|---|
${rows.join('\n')}
`;
}

if (process.argv[1] === import.meta.filename) {
  for (const [path, content] of Object.entries(generatedFiles()))
    writeFileSync(new URL(path, packageRoot), content);
}
