/** Parts that the scripts of the pages are put together from; each stands inside the function of its page. */

/** One submission at a time, with `sent` for the rest of the script to look at. */
export const sendOnce = `
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
    // Somebody else has dealt with it.
    if (event.defaultPrevented) return;
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
`;

/** `clock(seconds)`: 9:05 or 1:00:00. */
export const clockText = `
  function clock(seconds) {
    const two = (number) => String(number).padStart(2, '0');
    const hours = Math.floor(seconds / 3600);
    const minutes = Math.floor(seconds / 60) % 60;
    return (hours > 0 ? hours + ':' + two(minutes) : minutes) + ':' + two(seconds % 60);
  }
`;

/** The summary of errors takes the focus and leads to its fields. */
export const focusSummary = `
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
`;
