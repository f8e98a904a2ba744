import { clockText, focusSummary, sendOnce } from '../../platform/page-scripts.ts';

/**
 * The one script of the login pages: it improves them and is needed by none. A constant, so that the policy can
 * name it by its hash. It listens to nothing that keeps a page out of the back/forward cache (no `unload`, no
 * open connection), and puts right on `pageshow` what it has disabled.
 */
export const loginScript = `
(() => {
  'use strict';

  ${sendOnce}
  const field = document.querySelector('[data-code-field]');
  if (field) {
    let submitted = false;
    const digitsOf = (text) => text.replace(/[^0-9]/g, '');
    // The script cuts by itself, and after taking out what is not a digit: a pasted sentence keeps its code.
    field.removeAttribute('maxlength');
    document.querySelector('[data-with-script]').hidden = false;

    field.addEventListener('input', (event) => {
      if (event.isComposing) return;
      const digits = digitsOf(field.value).slice(0, 6);
      const before = Math.min(6, digitsOf(field.value.slice(0, field.selectionStart)).length);
      const shown = digits.length > 3 ? digits.slice(0, 3) + ' ' + digits.slice(3) : digits;
      if (shown !== field.value) {
        const beyondGap = before > 3 || (before === 3 && event.inputType === 'deleteContentForward');
        const caret = beyondGap ? before + 1 : before;
        field.value = shown;
        field.setSelectionRange(caret, caret);
      }
      // Once: who comes back to correct a digit decides when it goes.
      if (digits.length === 6 && !submitted && !sent) {
        submitted = true;
        field.form.requestSubmit();
      }
    });
  }

  for (const form of document.querySelectorAll('form[data-resend-after]')) {
    const text = form.querySelector('[data-resend-wait]');
    const button = form.querySelector('button');
    const status = form.querySelector('[data-resend-status]');
    const readyAt = Date.now() + Number(form.dataset.resendAfter) * 1000;
    if (!text) continue;

    const show = () => {
      const left = Math.ceil((readyAt - Date.now()) / 1000);
      if (left > 0) {
        text.textContent = text.dataset.countdown.replace('{time}', clock(left));
        return;
      }
      clearInterval(timer);
      if (!button.hasAttribute('data-waiting')) return;
      button.removeAttribute('data-waiting');
      button.disabled = sent;
      text.hidden = true;
      status.textContent = status.dataset.ready;
    };
    button.setAttribute('data-waiting', '');
    button.disabled = true;
    const timer = setInterval(show, 1000);
    addEventListener('pageshow', show);
    show();
  }

  ${clockText}
  ${focusSummary}
})();
`;
