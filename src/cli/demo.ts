import type { Command } from 'commander';
import { demoCredentials } from '../demo.ts';
import { OperatorRefusal } from '../platform/operator-refusal.ts';
import { seedAreas } from '../seed-demo.ts';
import { type Answer, addChanging, onDatabase } from './command.ts';
import type { CommandDeps } from './deps.ts';
import { record } from './text.ts';

const shown = demoCredentials('http://localhost:3000');

export function demoCommands(program: Command): void {
  const demo = program.command('demo').description('something to try things with');
  addChanging(demo, 'seed', {
    about: 'load a partner, a merchant and people, in local and test only',
    examples: ['tollgate demo seed'],
    json: {
      partner: { clientId: shown.partner.clientId },
      merchant: {
        merchantId: shown.merchant.merchantId,
        terminalId: shown.merchant.terminalId,
        clientId: shown.merchant.clientId,
      },
      people: shown.people,
    },
    more: `Their secrets stand in the README, so that everybody knows them. What is there already stays as it is.
The code 111111 is for the numbers in TEST_PHONES alone: by default these people in local; in test set it.`,
  }).action(onDatabase(seed));
}

async function seed(deps: CommandDeps): Promise<Answer> {
  const { server, identity, checkout } = deps.config;
  if (!['local', 'test'].includes(server.env) || checkout.env === 'production') {
    throw new OperatorRefusal(
      'found',
      `Demo data has secrets that everybody knows, and this is ${server.env}; it is for local and test only.`,
    );
  }
  const { urls } = server;
  await seedAreas({ ...deps, config: identity }, deps.checkout, { baseUrl: urls.base, actor: deps.actor });
  const { partner, merchant, people } = demoCredentials(urls.base);
  return {
    json: {
      partner: { clientId: partner.clientId },
      merchant: {
        merchantId: merchant.merchantId,
        terminalId: merchant.terminalId,
        clientId: merchant.clientId,
      },
      people,
    },
    text: record({
      partner: partner.clientId,
      merchant: `${merchant.merchantId}, terminal ${merchant.terminalId}, client ${merchant.clientId}`,
      ...Object.fromEntries(people.map(({ phone, about }) => [phone, about])),
    }),
  };
}
