/**
 * The one script of the login pages: it improves them and is needed by none. A constant, so that the policy can
 * name it by its hash. It listens to nothing that keeps a page out of the back/forward cache (no `unload`, no
 * open connection), and puts right on `pageshow` what it has disabled.
 */
export const loginScript = `
(() => {
  'use strict';

  // One submission for the whole page: a new code asked for while one is being checked would undo the check.
  let sent = false;
  let releaseTimer = 0;
  const buttons = () => document.querySelectorAll('button[type=submit]');

  function release() {
    sent = false;
    clearTimeout(releaseTimer);
    for (const button of buttons()) button.disabled = button.hasAttribute('data-waiting');
  }

  document.addEventListener('submit', (event) => {
    if (sent) {
      event.preventDefault();
      return;
    }
    sent = true;
    // The browser reads name and value of the pressed button after this event, and not from a disabled one.
    setTimeout(() => {
      for (const button of buttons()) button.disabled = true;
    }, 0);
    // Whoever stops the loading gets the buttons back.
    releaseTimer = setTimeout(release, 10000);
  });
  addEventListener('pageshow', release);

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

  function clock(seconds) {
    const two = (number) => String(number).padStart(2, '0');
    const hours = Math.floor(seconds / 3600);
    const minutes = Math.floor(seconds / 60) % 60;
    return (hours > 0 ? hours + ':' + two(minutes) : minutes) + ':' + two(seconds % 60);
  }

  // Some browsers honour autofocus on fields alone.
  const summary = document.querySelector('[data-summary]');
  if (summary) {
    summary.focus();
    summary.addEventListener('click', (event) => {
      const link = event.target.closest('a[href^="#"]');
      const target = link && document.getElementById(link.hash.slice(1));
      if (!target) return;
      event.preventDefault();
      target.focus();
      target.select();
    });
  }
})();
`;
