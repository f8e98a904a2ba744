import { seedCheckout } from './checkout/demo.ts';
import { demoCredentials } from './demo.ts';
import { seedIdentity } from './identity/demo.ts';

/** A partner, a merchant and people to try things with. Whatever is there already stays as it is. */
export async function seedAreas(
  identity: Parameters<typeof seedIdentity>[0],
  checkout: Parameters<typeof seedCheckout>[0],
  { baseUrl, actor }: { baseUrl: string; actor: string },
): Promise<void> {
  const demo = demoCredentials(baseUrl);
  const { walletUserId } = await seedIdentity(identity, demo, actor);
  await seedCheckout(checkout, { merchant: demo.merchant, walletUserId, actor });
}
