import { clockText, focusSummary, sendOnce } from '../../platform/page-scripts.ts';
import { brands } from '../domain/card.ts';

/**
 * The one script of the payment pages: it improves them and is needed by none. A constant, so that the policy can name
 * it by its hash. What is typed into the card form it reads, groups and checks; it sends and keeps none of it.
 */
export const payScript = `
(() => {
  'use strict';
  ${sendOnce}
  ${clockText}
  const one = (selector, within) => (within || document).querySelector(selector);
  // A page that the browser has kept may tell of what is no longer so.
  addEventListener('pageshow', (event) => {
    if (event.persisted) location.reload();
  });

  const card = one('form[data-card]');
  if (card) {
    const { number, expiry, csc, holder } = card.elements;
    const brands = ${JSON.stringify(brands.map(({ name, form }) => [name, form.source]))}
      .map(([name, source]) => [name, new RegExp(source)]);
    const digitsOf = (text) => text.replace(/[^0-9]/g, '');
    const brandOf = (digits) => (brands.find(([, form]) => form.test(digits)) || [''])[0];
    const isAmex = () => brandOf(digitsOf(number.value)) === 'American Express';
    const codeHint = document.getElementById('csc-hint');
    const onBack = codeHint.textContent;

    const grouped = (digits) =>
      (brandOf(digits) === 'American Express'
        ? [digits.slice(0, 4), digits.slice(4, 10), digits.slice(10, 15)]
        : digits.match(/.{1,4}/g) || []
      ).filter(Boolean).join(' ');

    // The number is grouped while it is typed, and the caret stays behind the digit it stood behind.
    number.addEventListener('input', (event) => {
      const digits = digitsOf(number.value).slice(0, 19);
      if (!event.isComposing) {
        const shown = grouped(digits);
        if (shown !== number.value) {
          const before = digitsOf(number.value.slice(0, number.selectionStart)).length;
          number.value = shown;
          let caret = 0;
          for (let seen = 0; caret < shown.length && seen < before; caret++) if (shown[caret] !== ' ') seen++;
          number.setSelectionRange(caret, caret);
        }
      }
      const brand = brandOf(digits);
      const badge = one('[data-brand]');
      if (badge.textContent !== brand) badge.textContent = brand;
      codeHint.textContent = isAmex() ? codeHint.dataset.front : onBack;
    });

    expiry.addEventListener('input', (event) => {
      const atEnd = expiry.selectionStart === expiry.value.length;
      if (atEnd && event.inputType === 'insertText' && /^(0[1-9]|1[0-2])$/.test(expiry.value)) expiry.value += '/';
      expiry.value = expiry.value.replace(/\\/\\//g, '/');
    });

    const hasCheckDigit = (digits) => {
      let sum = 0;
      for (let at = 0; at < digits.length; at++) {
        const digit = Number(digits[digits.length - 1 - at]) * (at % 2 === 1 ? 2 : 1);
        sum += digit > 9 ? digit - 9 : digit;
      }
      return digits.length >= 12 && digits.length <= 19 && sum % 10 === 0;
    };
    const expiryFault = (text) => {
      const [, month, year] = /^\\s*(\\d{1,2})\\s*[/.-]?\\s*(\\d{2}|\\d{4})\\s*$/.exec(text) || [];
      if (!month || Number(month) < 1 || Number(month) > 12) return 'invalid';
      const [thisYear, thisMonth] = card.dataset.card.split('-').map(Number);
      const fullYear = Number(year) + (year.length === 2 ? 2000 : 0);
      const monthsLeft = (fullYear - thisYear) * 12 + Number(month) - thisMonth;
      if (Math.abs(monthsLeft) > 240) return 'invalid';
      return monthsLeft < 0 ? 'past' : '';
    };
    const faultOf = (field) => {
      const text = field.value.trim();
      if (text === '') return 'missing';
      if (field === number) return /^[0-9 -]+$/.test(text) && hasCheckDigit(digitsOf(text)) ? '' : 'invalid';
      if (field === expiry) return expiryFault(text);
      if (field === csc) return new RegExp('^[0-9]{' + (isAmex() ? 4 : 3) + '}$').test(text) ? '' : 'invalid';
      return '';
    };
    const fields = [number, expiry, csc, holder];
    const show = (field, fault) => {
      const error = document.getElementById(field.id + '-error');
      const hint = document.getElementById(field.id + '-hint');
      error.hidden = !fault;
      error.textContent = fault ? field.dataset[fault] : '';
      if (fault) field.setAttribute('aria-invalid', 'true');
      else field.removeAttribute('aria-invalid');
      const described = [fault && error.id, hint && hint.id].filter(Boolean).join(' ');
      if (described) field.setAttribute('aria-describedby', described);
      else field.removeAttribute('aria-describedby');
      one('a[href="#' + field.id + '"]', card).parentElement.hidden = !fault;
    };
    for (const field of fields) {
      // Somebody who passes through an empty field has made no mistake yet.
      field.addEventListener('blur', () => {
        if (field.value.trim() !== '') show(field, faultOf(field));
      });
      field.addEventListener('input', () => {
        if (field.hasAttribute('aria-invalid') && !faultOf(field)) show(field, '');
      });
    }
    const summary = one('[data-faults]', card);
    card.addEventListener('submit', (event) => {
      let count = 0;
      for (const field of fields) {
        const fault = faultOf(field);
        if (fault) count++;
        show(field, fault);
      }
      summary.hidden = count === 0;
      if (count === 0) return;
      event.preventDefault();
      one('b', summary).textContent =
        count === 1 ? summary.dataset.one : summary.dataset.more.replace('{count}', String(count));
      summary.focus();
    });
    summary.addEventListener('click', (event) => {
      const link = event.target.closest('a[href^="#"]');
      if (!link) return;
      event.preventDefault();
      document.getElementById(link.hash.slice(1)).focus();
    });
  }

  const time = one('[data-seconds-left]');
  if (time) {
    const text = one('[data-clock]', time);
    const announce = one('[data-announce]', time);
    const more = one('form[data-more-time]', time);
    let endsAt = performance.now() + Number(time.dataset.secondsLeft) * 1000;
    const thresholds = [300, 60, 30];
    let passed = thresholds.filter((threshold) => Number(time.dataset.secondsLeft) <= threshold).length;
    const show = () => {
      const left = Math.max(0, Math.ceil((endsAt - performance.now()) / 1000));
      text.textContent = text.dataset.clock.replace('{time}', clock(left));
      if (left <= thresholds[passed]) {
        while (left <= thresholds[passed]) passed++;
        announce.textContent = announce.dataset.soon + ' ' + text.textContent;
      }
      if (left === 0 && !sent) {
        clearInterval(timer);
        // Not at once: if the server's clock is behind, it would say zero again, and again.
        setTimeout(() => location.reload(), 1000);
      }
    };
    const timer = setInterval(show, 1000);
    show();
    // What was typed stays: the form is sent behind the page's back.
    let asking = false;
    if (more) more.addEventListener('submit', async (event) => {
      event.preventDefault();
      if (asking) return;
      asking = true;
      try {
        const answer = await fetch(more.action, {
          method: 'POST',
          headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams(new FormData(more)).toString(),
        });
        if (!answer.ok) throw new Error();
        const { secondsLeft, extensions, mayExtend } = await answer.json();
        endsAt = performance.now() + secondsLeft * 1000;
        passed = thresholds.filter((threshold) => secondsLeft <= threshold).length;
        more.elements.extensions.value = extensions;
        show();
        announce.textContent = announce.dataset.given + ' ' + text.textContent;
        if (!mayExtend) {
          text.focus();
          more.hidden = true;
        }
      } catch {
        announce.textContent = announce.dataset.failed;
      }
      asking = false;
    });
  }

  const status = one('[data-status-url]');
  if (status) {
    let wait = 1500;
    const look = async () => {
      try {
        const answer = await fetch(status.dataset.statusUrl, { headers: { accept: 'application/json' } });
        if (!answer.ok) throw new Error();
        const { state } = await answer.json();
        if (state !== status.dataset.state) {
          location.reload();
          return;
        }
      } catch {
        // No network for a moment: the next look may get through.
      }
      wait = Math.min(wait * 1.3, 10000);
      setTimeout(look, wait);
    };
    setTimeout(look, wait);
  }

  const forward = one('a[data-forward]');
  if (forward) location.replace(forward.href);

  const leave = one('[data-leave-after]');
  if (leave) {
    const text = one('[data-countdown]', leave);
    const stay = one('[data-stay]', leave);
    const leaveAt = performance.now() + Number(leave.dataset.leaveAfter) * 1000;
    const show = () => {
      const left = Math.max(0, Math.ceil((leaveAt - performance.now()) / 1000));
      text.textContent = text.dataset.countdown.replace('{seconds}', String(left));
      if (left === 0) {
        clearInterval(timer);
        location.replace(leave.dataset.leaveTo);
      }
    };
    const timer = setInterval(show, 250);
    stay.hidden = false;
    stay.addEventListener('click', () => {
      clearInterval(timer);
      leave.hidden = true;
    });
    show();
  }
  ${focusSummary}
})();
`;
