import type { Logger } from '../../platform/log.ts';
import { createConsoleSender } from './console.ts';
import { createHttpSender } from './http.ts';
import { createSmppSender } from './smpp.ts';

/** Takes one text to one number. Resolves when the gateway has accepted it; rejects with SmsFailed otherwise. */
export type SmsSender = { send(phone: string, text: string): Promise<void>; close(): Promise<void> };

/**
 * The gateway has not accepted the text, or has not said so in time. The message may go to the log: it contains
 * neither the text nor the number. There is no `cause`, because an error of the network may carry what was sent.
 */
export class SmsFailed extends Error {
  override readonly name = 'SmsFailed';
}

/** `timeoutMs` bounds one send as a whole, from the connection to the answer. */
export type SmsConfig =
  | { kind: 'console' }
  | { kind: 'http'; url: string; secret: string; timeoutMs: number }
  | { kind: 'smpp'; url: string; systemId: string; password: string; from: string; timeoutMs: number };

/**
 * No sender ever repeats a text by itself. When the answer is lost, nobody knows whether the text is on its way,
 * and each one costs money: the person asks for another code, within the limits on codes.
 */
export function createSmsSender(config: SmsConfig, log: Logger): SmsSender {
  switch (config.kind) {
    case 'console':
      return createConsoleSender(log);
    case 'http':
      return createHttpSender(config);
    case 'smpp':
      return createSmppSender(config, log);
  }
}
