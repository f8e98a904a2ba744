/** The jobs that ask the acquirer about what is not known. */
export const taskNames = {
  askAttempt: 'checkout.ask-attempt',
  askRefund: 'checkout.ask-refund',
  askCapture: 'checkout.ask-capture',
  reverse: 'checkout.reverse',
} as const;

const firstMs = 1_000;
const longestMs = 3600_000;

/** A second after the first time nobody knew, then twice as long each time, up to an hour. */
export function nextInquiryAt(now: Date, inquiries: number): Date {
  return new Date(now.getTime() + Math.min(firstMs * 2 ** Math.min(inquiries, 20), longestMs));
}
