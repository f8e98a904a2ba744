import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { sandboxAcsRoutes } from './checkout/acquirers/sandbox-acs-routes.ts';
import { type Checkout, openCheckout, walletCallback } from './checkout/checkout.ts';
import { checkoutRefusals } from './checkout/errors.ts';
import { moveWallets } from './checkout/move-wallets.ts';
import { checkout as checkoutPlugin } from './checkout/plugin.ts';
import type { Config } from './config.ts';
import { demoCredentials } from './demo.ts';
import { demoShop, type ShopOptions } from './demo-shop/shop.ts';
import { ErrorsPage } from './errors-page.tsx';
import type { IdentityDeps } from './identity/deps.ts';
import { identityRefusals } from './identity/errors.ts';
import { openIdentity } from './identity/identity.ts';
import { authenticateMerchant } from './identity/merchant-clients.ts';
import { identityApi, identityPages } from './identity/plugin.ts';
import { keepBuiltInClient } from './identity/register-client.ts';
import type { SmsSender } from './identity/sms/sender.ts';
import { survivorOf } from './identity/store/users.ts';
import { type Merge, mergeUsers } from './identity/users.ts';
import { LandingPage } from './landing-page.tsx';
import { version } from './package.ts';
import type { Database } from './platform/db.ts';
import { type HealthDeps, health } from './platform/health.ts';
import { sendPage } from './platform/html.tsx';
import { createHttpServer, type HttpServer, routesOfHost } from './platform/http.ts';
import type { Job } from './platform/jobs.ts';
import { productName } from './platform/languages.ts';
import type { Logger } from './platform/log.ts';
import type { Metrics } from './platform/metrics.ts';
import { describeApi } from './platform/openapi.ts';
import type { Resolve } from './platform/outgoing.ts';
import { commonRefusals } from './platform/problem.ts';
import { deriveKey } from './platform/seal.ts';
import { swaggerUi } from './platform/swagger-ui.ts';
import { seedAreas } from './seed-demo.ts';
import { webhookOwners } from './webhook-owners.ts';
import type { WebhookDeps } from './webhooks/deps.ts';
import { webhookRefusals } from './webhooks/errors.ts';
import { webhooks as webhooksPlugin } from './webhooks/plugin.ts';
import { openWebhooks } from './webhooks/webhooks.ts';

export type AppDeps = {
  config: Config;
  log: Logger;
  metrics: Metrics;
  health: HealthDeps;
  areas: Areas;
};

/** The areas, ready to serve, with the jobs that go with them. */
export type Areas = {
  identity: IdentityDeps;
  checkout: Checkout;
  webhooks: WebhookDeps;
  /** Folds one account into another, with what it has in wallets. */
  mergeUsers(merge: Merge): Promise<{ survivorId: string; merged: boolean }>;
  jobs: Job[];
  close(): Promise<void>;
};

/** Every code a problem document can carry; `docs/errors.md` is written from it. */
export const allRefusals = {
  ...commonRefusals,
  ...identityRefusals,
  ...checkoutRefusals,
  ...webhookRefusals,
};

export async function openAreas(options: {
  config: Config;
  db: Database;
  log: Logger;
  metrics: Metrics;
  now: () => Date;
  sms?: SmsSender;
  /** Another way from a name to its addresses than the system's, for tests. */
  resolve?: Resolve;
}): Promise<Areas> {
  const { config, metrics, resolve, ...shared } = options;
  const identity = await openIdentity({
    ...shared,
    config: config.identity,
    urls: config.server.urls,
    registry: metrics.registry,
  });
  const signIn = await keepWalletClient(identity.deps, config);
  const checkout = openCheckout({
    ...shared,
    signIn,
    config: config.checkout,
    urls: config.server.urls,
    registry: metrics.registry,
    authenticate: (header, address) => authenticateMerchant(identity.deps, header, address),
    survivorOf,
  });
  const webhooks = openWebhooks({
    ...shared,
    config: config.webhooks,
    version,
    registry: metrics.registry,
    resolve,
    ...webhookOwners(shared.db),
  });
  return {
    identity: identity.deps,
    checkout,
    webhooks: webhooks.deps,
    mergeUsers: (merge) =>
      mergeUsers(
        { ...identity.deps.users, onMerged: (tx, merged) => moveWallets(checkout.deps, tx, merged) },
        merge,
      ),
    jobs: [...identity.jobs, ...checkout.jobs, ...webhooks.jobs],
    close: () => identity.close(),
  };
}

/** The payment page signs people in as a client like any other, whose secret follows from ours. */
async function keepWalletClient(identity: IdentityDeps, config: Config) {
  const clientId = 'tollgate-checkout';
  const clientSecret = deriveKey(config.checkout.keysSecret, 'secret of the wallet client').toString(
    'base64url',
  );
  await keepBuiltInClient(identity, {
    clientId,
    clientSecret,
    name: `${productName} Wallet`,
    redirectUri: walletCallback(config.server.urls.checkout),
  });
  return { issuer: identity.issuer.issuer, clientId, clientSecret };
}

/** In local a newcomer finds a partner, a merchant and people to try things with. */
export async function seedDemo(areas: Areas, baseUrl: string): Promise<void> {
  await seedAreas(areas.identity, areas.checkout.deps, { baseUrl, actor: 'demo' });
}

const indexSchema = {
  summary: 'What runs here',
  tags: ['Service'],
  response: {
    200: Type.Object({
      name: Type.String(),
      version: Type.String(),
      environment: Type.String(),
      links: Type.Object({ openapi: Type.String(), reference: Type.String() }),
    }),
  },
};

/** The whole service as one Fastify instance: where the areas meet. */
export async function buildApp(deps: AppDeps): Promise<HttpServer> {
  const { server } = deps.config;
  const { urls } = server;
  const app = createHttpServer({
    log: deps.log,
    metrics: deps.metrics,
    baseUrl: urls.base,
    trustProxy: server.trustProxy,
  });
  await describeApi(app, { version, baseUrl: urls.base });
  if (server.adminPort === server.port) await app.register(health, deps.health);

  const hostOf = hostsToTellApart(urls);
  await app.register(
    async (scope) => {
      scope.addHook('onRoute', routesOfHost(hostOf(urls.base)));
      // Relative, since a page that was opened under another name (127.0.0.1) may read from its own origin only.
      await scope.register(swaggerUi, { documentUrl: '../api/openapi.json' });
      scope.get('/api', { schema: indexSchema }, async () => ({
        name: 'tollgate',
        version,
        environment: server.env,
        links: { openapi: `${urls.base}/api/openapi.json`, reference: `${urls.base}/swagger-ui/index.html` },
      }));
      scope.get('/api/openapi.json', { schema: { hide: true } }, async (_request, reply) =>
        reply.header('cache-control', 'public, max-age=300').send(app.swagger()),
      );
      scope.get('/docs/errors', { schema: { hide: true } }, async (_request, reply) =>
        sendPage(reply, ErrorsPage({ refusals: allRefusals })),
      );
      await scope.register(identityApi, deps.areas.identity);
      if (server.demo) {
        await scope.register(demoShop, shopOptions(urls, deps.areas.identity.issuer.issuer));
        scope.get('/', { schema: { hide: true } }, async (_request, reply) =>
          sendPage(reply, LandingPage({ version, env: server.env, urls, adminUrl: adminUrlOf(server) })),
        );
      }
    },
    { prefix: pathOf(urls.base) },
  );
  await app.register(
    async (scope) => {
      scope.addHook('onRoute', routesOfHost(hostOf(urls.sso)));
      await scope.register(identityPages, deps.areas.identity);
    },
    { prefix: pathOf(urls.sso) },
  );
  await app.register(
    async (scope) => {
      scope.addHook('onRoute', routesOfHost(hostOf(urls.checkout)));
      await scope.register(checkoutPlugin, {
        deps: deps.areas.checkout.deps,
        async webhookRoutes(api) {
          const merchantOf = (request: FastifyRequest) => request.merchant.merchantId;
          await api.register(webhooksPlugin, { ...deps.areas.webhooks, merchantOf });
        },
      });
      if (deps.areas.checkout.acs) await scope.register(sandboxAcsRoutes, { acs: deps.areas.checkout.acs });
    },
    { prefix: pathOf(urls.checkout) },
  );
  return app;
}

function shopOptions(urls: Config['server']['urls'], issuer: string): ShopOptions {
  const { partner, merchant } = demoCredentials(urls.base);
  return {
    partner: { issuer, baseUrl: urls.base, ...partner },
    merchant: { checkoutUrl: urls.checkout, baseUrl: urls.base, ...merchant },
  };
}

/** `/health` and `/metrics` alone, for a port that the public does not reach. */
export async function buildAdminApp(deps: Omit<AppDeps, 'areas'>): Promise<HttpServer> {
  const app = createHttpServer({
    log: deps.log,
    metrics: deps.metrics,
    baseUrl: deps.config.server.urls.base,
    trustProxy: false,
  });
  await app.register(health, deps.health);
  return app;
}

/** On one shared host the paths tell the three addresses apart, and any name that leads here will do. */
function hostsToTellApart(urls: Record<string, string>): (url: string) => string | undefined {
  const hosts = new Set(Object.values(urls).map((url) => new URL(url).host));
  return (url) => (hosts.size > 1 ? new URL(url).host : undefined);
}

function adminUrlOf({ urls, port, adminPort }: Config['server']): string {
  return adminPort === port ? '' : `http://${new URL(urls.base).hostname}:${adminPort}`;
}

function pathOf(url: string): string {
  const { pathname } = new URL(url);
  return pathname === '/' ? '' : pathname;
}
