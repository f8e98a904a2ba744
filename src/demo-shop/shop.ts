import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import { takeForms } from '../platform/bodies.ts';
import type { FormFields } from '../platform/form.ts';
import { sendPage } from '../platform/html.tsx';
import { AccountPage } from './account-page.tsx';
import { createExperiments } from './experiments.ts';
import { reloadScript, shopStyle } from './layout.tsx';
import { createMerchant, type MerchantOptions, Refused } from './merchant.ts';
import { OrderPage } from './order-page.tsx';
import { ExperimentsPage, ShopPage, TroublePage } from './pages.tsx';
import { createPartner, type PartnerOptions } from './partner.ts';
import { products } from './products.ts';
import { createVisitors, remember, type Visitor } from './visitors.ts';
import { createWebhookReceiver } from './webhook-receiver.ts';

export type ShopOptions = { partner: PartnerOptions; merchant: MerchantOptions };

const hidden = { schema: { hide: true } } as const;

/**
 * A shop that lets people sign in with us and pay with us. It knows the service by its public HTTP alone, as any
 * partner's or merchant's program does: what is done here can be copied.
 */
export const demoShop: FastifyPluginAsync<ShopOptions> = async (app, options) => {
  const { baseUrl } = options.merchant;
  const visitors = createVisitors(baseUrl);
  const partner = createPartner(options.partner);
  const merchant = createMerchant(options.merchant);
  const receiver = createWebhookReceiver(merchant, baseUrl);
  const experiments = createExperiments({ partner: options.partner, merchant });

  takeForms(app);
  app.setErrorHandler((error, _request, reply) => {
    app.log.warn({ err: error }, 'the demo shop is in trouble');
    const detail = error instanceof Refused ? JSON.stringify(error.answer, null, 2) : String(error);
    return page(reply.code(502), TroublePage({ detail }));
  });

  app.get('/demo', hidden, async (request, reply) => {
    const visitor = visitors.of(request, reply);
    return page(reply, ShopPage({ products, signedIn: visitor.tokens !== null, orders: visitor.orders }));
  });

  app.get('/demo/sign-in', hidden, async (request, reply) =>
    reply.redirect(await partner.begin(visitors.of(request, reply)), 303),
  );

  app.get('/demo/callback', hidden, async (request, reply) => {
    const visitor = visitors.of(request, reply);
    const callback = new URL(`${baseUrl}/demo/callback`);
    callback.search = request.url.includes('?') ? request.url.slice(request.url.indexOf('?')) : '';
    try {
      await partner.finish(visitor, callback);
    } catch (error) {
      const detail = callback.searchParams.get('error_description') ?? (error as Error).message;
      return page(reply.code(400), TroublePage({ detail: `You are not signed in. ${detail}` }));
    }
    return reply.redirect(`${baseUrl}/demo/account`, 303);
  });

  app.get('/demo/account', hidden, async (request, reply) => {
    const visitor = visitors.of(request, reply);
    const person = await partner.person(visitor);
    if (!person) visitor.tokens = null;
    return page(reply, AccountPage({ tokens: visitor.tokens, person, steps: visitor.steps }));
  });

  app.post('/demo/refresh', hidden, async (request, reply) => {
    const visitor = visitors.of(request, reply);
    try {
      await partner.refresh(visitor);
    } catch {
      // Signed out elsewhere, or idle for too long: the account page says so.
      visitor.tokens = null;
    }
    return reply.redirect(`${baseUrl}/demo/account`, 303);
  });

  app.get('/demo/sign-out', hidden, async (request, reply) => {
    const visitor = visitors.of(request, reply);
    const url = await partner.signOutUrl(visitor);
    visitor.tokens = null;
    visitor.steps = [];
    return reply.redirect(url, 303);
  });

  app.post('/demo/buy', hidden, async (request, reply) => {
    const visitor = visitors.of(request, reply);
    const wanted = fieldOf(request.body, 'product');
    const product = products.find(({ name }) => name === wanted);
    if (!product) return reply.redirect(`${baseUrl}/demo`, 303);
    // A shop that cannot be told of its payments sells all the same, and reads them.
    await receiver
      .ready()
      .catch((error: unknown) => app.log.warn({ err: error }, 'no webhooks for the demo shop'));
    const payment = await merchant.createPayment(product);
    remember(visitor.orders, {
      paymentId: payment.id,
      product: product.name,
      amount: `${product.price} AZN`,
    });
    return reply.redirect(payment.confirmation.confirmationUrl, 303);
  });

  app.get('/demo/orders', hidden, async (request, reply) => {
    const visitor = visitors.of(request, reply);
    const { paymentId } = request.query as { paymentId?: string };
    const order = orderOf(visitor, paymentId);
    if (!order) return reply.redirect(`${baseUrl}/demo`, 303);
    // What the address says of the status is not believed: the payment is read.
    const payment = await merchant.readPayment(order.paymentId);
    const events = receiver.about(order.paymentId);
    return page(reply, OrderPage({ order, payment, events }));
  });

  app.post('/demo/refund', hidden, async (request, reply) => {
    const visitor = visitors.of(request, reply);
    const order = orderOf(visitor, fieldOf(request.body, 'paymentId'));
    if (!order) return reply.redirect(`${baseUrl}/demo`, 303);
    await merchant.refund(order.paymentId, fieldOf(request.body, 'amount'));
    return reply.redirect(`${baseUrl}/demo/orders?paymentId=${order.paymentId}`, 303);
  });

  app.get('/demo/experiments', hidden, async (request, reply) => {
    const visitor = visitors.of(request, reply);
    return page(reply, ExperimentsPage({ experiments, visitor }));
  });

  app.post('/demo/experiments', hidden, async (request, reply) => {
    const visitor = visitors.of(request, reply);
    const experiment = experiments.find(({ name }) => name === fieldOf(request.body, 'name'));
    if (experiment && !experiment.needs(visitor)) {
      const { title, about } = experiment;
      await experiment.run(visitor, (exchange) => {
        visitor.experiment = { title, about, ...exchange };
      });
    }
    return reply.redirect(`${baseUrl}/demo/experiments`, 303);
  });

  await app.register(async (hooks) => {
    hooks.removeAllContentTypeParsers();
    // The bytes as they came: the signature is of them.
    hooks.addContentTypeParser(
      'application/json',
      { parseAs: 'string' },
      async (_: unknown, body: string) => body,
    );
    hooks.post('/demo/webhooks', hidden, async (request, reply) =>
      reply.code(receiver.take(request.headers, String(request.body)) ? 204 : 401).send(),
    );
  });

  function page(reply: FastifyReply, content: Parameters<typeof sendPage>[1]) {
    return sendPage(reply, content, {
      styles: [shopStyle],
      script: reloadScript,
      // A purchase leads on to the payment page, wherever that is.
      formAction: [new URL(options.merchant.checkoutUrl).origin],
    });
  }
};

function orderOf(visitor: Visitor, paymentId: string | undefined) {
  return visitor.orders.find((order) => order.paymentId === paymentId);
}

function fieldOf(body: unknown, name: string): string {
  return (body as FormFields).get(name)?.[0] ?? '';
}
