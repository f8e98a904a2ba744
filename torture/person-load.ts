import { setTimeout as delay } from 'node:timers/promises';
import type { TestApp } from '../test/support/app.ts';
import { basic, demoMerchant } from '../test/support/merchant.ts';
import {
  type Answer,
  authorizeUrl,
  bearer,
  demo,
  exchange,
  logInThrough,
  newPkce,
  refresh,
  type Tokens,
  tokenCall,
  Visitor,
} from '../test/support/partner.ts';
import type { Question } from './ask.ts';
import type { Driver } from './driver.ts';
import { frontDoor, isUnfinishedLogin, NoAnswer, onlyNoAnswer } from './front-door.ts';
import type { Worker } from './merchant-load.ts';
import type { Node } from './nodes.ts';

const phones = Array.from({ length: 300 }, (_, at) => `+99450222${String(at).padStart(4, '0')}`);
export const phonesSetting = ['+994500000001', ...phones].join(',');

/** Less than the window in which a lost answer to a refresh may be asked for again. */
const retryWindowMs = 25_000;

/** People who log in, are looked up, refreshed and logged out, and a program that asks for a token of its own. */
export async function runPeople(worker: Worker, baseUrl: string): Promise<void> {
  while (!worker.isOver()) {
    await askForProgramToken(worker, baseUrl);
    try {
      await liveThroughSession(worker, baseUrl);
    } catch (error) {
      // A login that breaks off begins anew, as a person would.
      if (error instanceof NoAnswer) continue;
      if (!isUnfinishedLogin(error)) throw error;
      if (!worker.driver.allowance.endedSessions) worker.driver.breach('answer', String(error));
    }
  }
}

async function askForProgramToken({ driver }: Worker, baseUrl: string): Promise<void> {
  const answer = await tokenCall(frontDoor(driver, baseUrl), {
    grant_type: 'client_credentials',
    client_id: demoMerchant.clientId,
    client_secret: demoMerchant.clientSecret,
  }).catch(onlyNoAnswer);
  if (answer && answer.statusCode !== 200)
    driver.breach('answer', `client_credentials: ${answer.statusCode} ${answer.body}`);
}

async function liveThroughSession(worker: Worker, baseUrl: string): Promise<void> {
  const { driver, random } = worker;
  const service = frontDoor(driver, baseUrl);
  const person = { phone: random.pick(phones), code: demo.code };
  const pkce = newPkce();
  const back = await logInThrough(new Visitor(service), authorizeUrl(service, pkce), person);
  const code = back.searchParams.get('code') ?? '';
  const first = await exchange(service, code, pkce);
  if (first.statusCode !== 200) throw new Error(`no tokens but ${first.statusCode}: ${first.body}`);
  const former: string[] = [];
  let tokens = first.json<Tokens>();
  for (let turns = random.between(1, 4); turns > 0; turns--) {
    await lookUp(worker, tokens);
    const next = await refreshForSure(worker, service, tokens);
    if (!next) return;
    former.push(tokens.refresh_token);
    tokens = next;
  }
  const drawn = random.next();
  const [oldest, previous] = former;
  if (drawn < 0.6) await logOut(worker, tokens);
  else if (drawn < 0.75) await replay(worker, tokens, () => exchange(service, code, pkce));
  // The one before may come again, for a lost answer; any older one is a replay.
  else if (drawn < 0.9 && oldest && previous) await replay(worker, tokens, () => refresh(service, oldest));
}

async function lookUp({ driver }: Worker, tokens: Tokens): Promise<void> {
  const answer = await driver.send(userinfo(tokens.access_token));
  if (answer && answer.status !== 200 && !driver.allowance.endedSessions)
    driver.breach('lost', `userinfo of a live session: ${answer.status} ${answer.body}`);
}

/** Until it is answered: the same token may come again, and leads to the same successor. */
async function refreshForSure(worker: Worker, service: TestApp, tokens: Tokens): Promise<Tokens | undefined> {
  const { driver, random, isOver } = worker;
  for (const startedAt = performance.now(); !isOver(); await delay(random.between(50, 250))) {
    const answer = await refresh(service, tokens.refresh_token).catch(onlyNoAnswer);
    if (!answer) continue;
    if (answer.statusCode === 200) return answer.json<Tokens>();
    const isLate = performance.now() - startedAt > retryWindowMs;
    if (!isLate && !driver.allowance.endedSessions)
      driver.breach('lost', `refresh of a live session: ${answer.statusCode} ${answer.body}`);
    return undefined;
  }
  return undefined;
}

/** From its 204 on, nothing of the session works, at any node. */
async function logOut({ driver, random, isOver }: Worker, tokens: Tokens): Promise<void> {
  for (let tries = 0; !isOver(); tries++) {
    const answer = await driver.send({ ...userinfo(tokens.access_token), ...logoutCall });
    if (!answer) {
      await delay(random.between(50, 250));
      continue;
    }
    // Without an answer to the first try, nobody knows whether it was this one that ended the session.
    const isOurs = answer.status === 204 || (tries > 0 && answer.status === 401);
    if (!isOurs && !driver.allowance.endedSessions)
      driver.breach('lost', `logout of a live session: ${answer.status} ${answer.body}`);
    if (answer.status !== 204) return;
    await end(driver, tokens);
    return;
  }
}

/** What works once comes again: it is refused, and from then on nothing works that ever came from it. */
async function replay(worker: Worker, tokens: Tokens, again: () => Promise<Answer>): Promise<void> {
  const { driver, random, isOver } = worker;
  for (; !isOver(); await delay(random.between(50, 250))) {
    const answer = await again().catch(onlyNoAnswer);
    if (!answer) continue;
    if (answer.statusCode !== 400)
      driver.breach('doubled', `what works once was taken again: ${answer.statusCode}`);
    // With a clock that is ahead, a code may have been cleaned away, and then nobody knows what came from it.
    else if (!driver.allowance.endedSessions) await end(driver, tokens);
    return;
  }
}

async function end(driver: Driver, tokens: Tokens): Promise<void> {
  const session = { accessToken: tokens.access_token, refreshToken: tokens.refresh_token };
  driver.journal.end(session);
  for (const node of driver.nodes.ready()) await assertEnded(driver, node, session.accessToken);
}

const logoutCall = { method: 'POST', path: '/api/v1/identity/logout' } as const;

function userinfo(token: string): Question {
  return { method: 'GET', path: '/api/v1/openid-connect/userinfo', headers: bearer(token) };
}

export async function assertEnded(driver: Driver, node: Node, accessToken: string): Promise<void> {
  const answer = await driver.send(userinfo(accessToken), node);
  if (answer && answer.status !== 401)
    driver.breach('invariant', `an ended session works on ${node.name}: ${answer.status}`);
}

export async function assertNotRefreshed(driver: Driver, node: Node, refreshToken: string): Promise<void> {
  const answer = await driver.send(
    {
      method: 'POST',
      path: '/api/v2/openid-connect/token',
      headers: {
        authorization: basic(demo.clientId, demo.clientSecret),
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken }).toString(),
    },
    node,
  );
  if (answer && answer.status !== 400)
    driver.breach('invariant', `a refresh token of an ended session is taken on ${node.name}`);
}
