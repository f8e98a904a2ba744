import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import { takeForms } from '../../platform/bodies.ts';
import type { FormFields } from '../../platform/form.ts';
import { sendPage } from '../../platform/html.tsx';
import { formatMoney } from '../domain/money.ts';
import type { Challenge, SandboxAcs } from './sandbox.ts';
import { AcsNotFoundPage, AcsPage } from './sandbox-acs.tsx';

type Address = { Params: { token: string } };

/** The sandbox's access-control pages, below `CHECKOUT_BASE_URL`: where a challenge sends the browser. */
export const sandboxAcsRoutes: FastifyPluginAsync<{ acs: SandboxAcs }> = async (app, { acs }) => {
  takeForms(app);
  const hidden = { schema: { hide: true } } as const;

  app.get<Address>('/sandbox/acs/:token', hidden, async (request, reply) =>
    answer(reply, await acs.find(request.params.token), { wasWrong: false }),
  );

  app.post<Address & { Body: FormFields }>('/sandbox/acs/:token', hidden, async (request, reply) => {
    const { token } = request.params;
    if (request.body.get('action')?.[0] === 'cancel') {
      return answer(reply, await acs.cancel(token), { wasWrong: false });
    }
    const code = request.body.get('code')?.[0] ?? '';
    return answer(reply, await acs.confirm(token, code.replace(/\s/g, '')), { wasWrong: true });
  });
};

/** Once a challenge has ended, refreshing, going back or a second tab lead where the first answer led. */
function answer(reply: FastifyReply, challenge: Challenge | undefined, { wasWrong }: { wasWrong: boolean }) {
  if (!challenge) return sendPage(reply, AcsNotFoundPage(), { status: 404 });
  if (!challenge.isOpen) return reply.redirect(challenge.returnUrl, 303);
  const amount = `${formatMoney(challenge.amount)} ${challenge.amount.currency}`;
  // The answer to the form is a redirect to the shop's checkout, and `form-action` holds for redirects as well.
  const formAction = [new URL(challenge.returnUrl).origin];
  return sendPage(reply, AcsPage({ amount, codesLeft: challenge.codesLeft, wasWrong }), { formAction });
}
