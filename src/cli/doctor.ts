import type { Command } from 'commander';
import { examine, type Finding } from '../doctor.ts';
import { type Answer, addReading, answering } from './command.ts';
import { holdDatabase } from './deps.ts';
import { exitCodes, progress } from './exit.ts';
import { cellText } from './text.ts';

export function doctorCommand(program: Command): void {
  addReading(program, 'doctor', {
    about: 'look at everything an installation needs, and explain each fault',
    examples: ['tollgate doctor', 'tollgate doctor --json'],
    json: {
      healthy: false,
      findings: [
        {
          check: 'clock',
          status: 'fault',
          detail: "The database's clock is 4000 ms behind ours.",
          remedy: 'Let NTP set the clock on both machines.',
        },
      ],
    },
    more: `Looks at the settings, the database and its durability, migrations, clocks, signing keys, jobs, what waits
for the acquirer, and whether the public addresses lead to this service. It changes nothing, and ends with 1 when there is a fault; a warning is none.`,
  }).action(answering(diagnose));
}

async function diagnose(): Promise<Answer> {
  const findings: Finding[] = [];
  for await (const finding of examine(process.env, holdDatabase)) {
    findings.push(finding);
    progress(`${finding.check}: ${finding.status}`);
  }
  const faults = findings.filter((finding) => finding.status === 'fault').length;
  const summary = faults === 0 ? 'All is well.' : `${faults} ${faults === 1 ? 'fault' : 'faults'}.`;
  return {
    json: { healthy: faults === 0, findings },
    text: [...findings.map(findingText), summary].join('\n'),
    exitCode: faults === 0 ? exitCodes.well : exitCodes.no,
  };
}

function findingText({ check, status, detail, remedy }: Finding): string {
  const line = `${status.padEnd(7)}  ${check.padEnd(17)}  ${cellText(detail)}`;
  return remedy === null ? line : `${line}\n${' '.repeat(28)}${cellText(remedy)}`;
}
