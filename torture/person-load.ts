import { setTimeout as delay } from 'node:timers/promises';
import type { TestApp } from '../test/support/app.ts';
import { basic, demoMerchant } from '../test/support/merchant.ts';
import { bearer, demo, logIn, refresh, type Tokens, tokenCall } from '../test/support/partner.ts';
import { urlsOf } from '../test/support/remote.ts';
import type { Answer, Question } from './ask.ts';
import type { Driver } from './driver.ts';
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
  let tokens: Tokens = await logIn(service, { person: { phone: random.pick(phones), code: demo.code } });
  for (let turns = random.between(1, 4); turns > 0; turns--) {
    await lookUp(worker, tokens);
    const next = await refreshForSure(worker, service, tokens);
    if (!next) return;
    tokens = next;
  }
  if (random.chance(0.8)) await logOut(worker, tokens);
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
    const session = { accessToken: tokens.access_token, refreshToken: tokens.refresh_token };
    driver.journal.end(session);
    for (const node of driver.nodes.ready()) await assertEnded(driver, node, session.accessToken);
    return;
  }
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

class NoAnswer extends Error {}

function onlyNoAnswer(error: unknown): undefined {
  if (!(error instanceof NoAnswer)) throw error;
}

/** Every step of it was answered, and yet it did not come to its end. */
function isUnfinishedLogin(error: unknown): boolean {
  return error instanceof Error && /^no (form|redirect|tokens|code)/.test(error.message);
}

/** The service in the shape that the calls of the tests expect; what is not answered breaks the story off. */
function frontDoor(driver: Driver, baseUrl: string): TestApp {
  const inject = async (given: Question & { url: string; payload?: string }) => {
    const { host: _, ...headers } = given.headers ?? {};
    const answer = await driver.send({
      method: given.method ?? 'GET',
      path: given.url,
      headers,
      ...(given.payload === undefined ? {} : { body: given.payload }),
    });
    if (!answer) throw new NoAnswer('not answered');
    return injected(answer);
  };
  return { app: { inject }, config: { server: { urls: urlsOf(baseUrl) } } } as unknown as TestApp;
}

function injected({ status, headers, body }: Answer) {
  return { statusCode: status, headers, body, json: () => JSON.parse(body) as unknown };
}
