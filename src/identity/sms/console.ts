import type { Logger } from '../../platform/log.ts';
import type { SmsSender } from './sender.ts';

/** For a developer, who reads the code in the log. The text stands in the message: as a field it might be masked. */
export function createConsoleSender(log: Logger): SmsSender {
  return {
    async send(phone, text) {
      log.info(`SMS to ${phone}: ${text}`);
    },
    async close() {},
  };
}
