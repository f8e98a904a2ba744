import type { Money } from './money.ts';

/** What only the form, this process's memory and the acquirer ever see. */
export type Card = {
  number: string;
  expiryMonth: number;
  expiryYear: number;
  securityCode: string;
  holder: string;
};

export const declineReasons = [
  'general_decline',
  'insufficient_funds',
  'card_expired',
  'invalid_card_number',
  'invalid_csc',
  '3d_secure_failed',
  'fraud_suspected',
  'issuer_unavailable',
  'payment_method_restricted',
  'rejected_by_payee',
] as const;
export type DeclineReason = (typeof declineReasons)[number];

export type Approval = { rrn: string; authCode: string; threeDSecure: boolean };

/**
 * `failed` certainly did not happen, and `answered` when the acquirer itself has said so, which shows that it is there;
 * `unknown` may have happened.
 */
export type Lost = { kind: 'failed'; answered?: true } | { kind: 'unknown' };

export type AuthorizeOutcome =
  | { kind: 'approved'; approval: Approval }
  | { kind: 'declined'; reason: DeclineReason }
  | { kind: 'challenge'; url: string }
  | Lost;

/** Of a capture, a reversal or a refund. */
export type OperationOutcome =
  | { kind: 'done'; rrn: string | null }
  | { kind: 'refused'; reason: DeclineReason }
  | Lost;

export type AuthorizeCall = {
  /** Ours. The same reference twice is one operation, however often it is sent. */
  reference: string;
  merchantId: string;
  terminalId: string;
  amount: Money;
  card: Card;
  /** Take the money at once, or only hold it for a later capture. */
  capture: boolean;
  /** Where the browser comes back to after a challenge. */
  returnUrl: string;
};

export type OperationCall = {
  reference: string;
  /** The reference of the authorization it is about. */
  authorization: string;
  merchantId: string;
  amount: Money;
};

export type Inquiry = { reference: string; merchantId: string };

/** Whoever takes card payments. No call throws: what went wrong is part of the outcome. */
export type Acquirer = {
  authorize(call: AuthorizeCall): Promise<AuthorizeOutcome>;
  /** After a challenge: how it ended. */
  complete(inquiry: Inquiry): Promise<AuthorizeOutcome>;
  capture(call: OperationCall): Promise<OperationOutcome>;
  reverse(call: OperationCall): Promise<OperationOutcome>;
  refund(call: OperationCall): Promise<OperationOutcome>;
  /** What became of an authorization; `failed` when the acquirer never heard of it. */
  inquireAuthorization(inquiry: Inquiry): Promise<AuthorizeOutcome>;
  /** The same for a capture, a reversal or a refund. */
  inquireOperation(inquiry: Inquiry): Promise<OperationOutcome>;
};
