import type { PayTexts } from './pay-texts.ts';

export type TimeView = {
  secondsLeft: number;
  /** How to ask for more, and where that leads back to; null when there is none to be had. */
  more: { action: string; extensions: number; from: string } | null;
};

/** Seen all the time, heard only when it matters. */
export function TimeLeft({ secondsLeft, more, texts }: TimeView & { texts: PayTexts }) {
  return (
    <div class="time" data-seconds-left={secondsLeft}>
      <p data-clock={texts.time.clock} tabIndex={-1}>
        {texts.time.left(Math.floor(secondsLeft / 60))}
      </p>
      <p
        class="unseen"
        role="status"
        data-announce
        data-soon={texts.time.soon}
        data-given={texts.time.given}
        data-failed={texts.time.notGiven}
      />
      {more && (
        <form method="post" action={more.action} data-more-time>
          <input type="hidden" name="extensions" value={more.extensions} />
          <input type="hidden" name="from" value={more.from} />
          <button class="text-button" type="submit">
            {texts.time.more}
          </button>
        </form>
      )}
    </div>
  );
}
