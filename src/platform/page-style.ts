/** The one style sheet of all pages. Colours meet WCAG AA in both schemes. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --ink: #16202b; --soft: #4d5b6a; --paper: #f4f6f8; --card: #ffffff; --line: #d4dbe2; --accent: #0b5fae;
  --code: #eef2f6; --on-accent: #ffffff; --accent-deep: #084a89; --accent-soft: #e8f1fa; --field: #ffffff; --field-line: #71808f;
  --danger: #b3261e; --danger-soft: #fdeeec; --warn: #7a4d00; --warn-soft: #fff6e0; --warn-line: #c99a3b; --good: #17693f; --good-soft: #e5f4ec;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e8edf2; --soft: #a9b6c3; --paper: #10161d; --card: #18212b; --line: #33404e; --accent: #7cb8f2;
    --code: #212c38; --on-accent: #0b1b2b; --accent-deep: #a5cff8; --accent-soft: #1b2f44; --field: #10161d; --field-line: #8292a2;
    --danger: #ffb4a9; --danger-soft: #3a1f1d; --warn: #f3cd84; --warn-soft: #2f2616; --warn-line: #8a6c2f; --good: #8ed8b0; --good-soft: #17322a;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  overflow-wrap: anywhere;
}
main { max-width: 66rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .5rem; letter-spacing: -.01em; }
h2 { font-size: 1.15rem; margin: 0 0 .75rem; }
main > h2 { margin-top: 2rem; }
p { margin: 0 0 1rem; }
.soft { color: var(--soft); }
a { color: var(--accent); text-underline-offset: .15em; }
a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1.25rem; margin: 1rem 0; }
.grid { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr)); }
.grid.four { grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); }
.grid .card { margin: 0; }
.try { display: flex; flex-direction: column; }
.try .button { margin-top: auto; }
code { font: .9em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; background: var(--code); border-radius: 5px; padding: .1em .35em; }
dl { margin: 0; display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1rem; }
dl.stacked { grid-template-columns: 1fr; gap: 0; }
dl.stacked dd { margin-bottom: .6rem; }
dl.rows { display: block; margin: 1rem 0; padding: .25rem 1.25rem; }
dl.rows > div { padding: .85rem 0; border-top: 1px solid var(--line); }
dl.rows > div:first-child { border-top: 0; }
dl.rows > div:target { box-shadow: inset 3px 0 var(--accent); padding-inline-start: .75rem; }
dt { color: var(--soft); }
dd { margin: 0; }
ul { margin: 0; padding-inline-start: 1.25rem; }
li { margin: .25rem 0; }

form { margin: 0; }
label { display: block; font-weight: 600; margin: 0 0 .35rem; }
input:not([type=hidden]) {
  display: block; width: 100%; min-height: 3.25rem; padding: .6rem .85rem; font: inherit; font-size: 1.125rem; color: var(--ink);
  background: var(--field); border: 1px solid var(--field-line); border-radius: 10px; appearance: none;
}
input[aria-invalid=true] { border-color: var(--danger); box-shadow: inset 0 0 0 1px var(--danger); }
.button {
  display: flex; align-items: center; justify-content: center; width: 100%; min-height: 3.25rem; padding: .65rem 1.25rem;
  font: inherit; font-size: 1.0625rem; font-weight: 600; line-height: 1.3; text-align: center; text-decoration: none; cursor: pointer;
  color: var(--on-accent); background: var(--accent); border: 1px solid transparent; border-radius: 10px; appearance: none;
}
.button:hover { background: var(--accent-deep); }
.button.quiet { color: var(--accent); background: transparent; border-color: var(--field-line); }
.button.quiet:hover { background: var(--accent-soft); }
.button:disabled { color: var(--soft); background: var(--code); border-color: var(--line); cursor: default; }
input:focus-visible { outline: 3px solid var(--accent); outline-offset: 0; }
.button:focus-visible, [tabindex]:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.unseen { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
[hidden] { display: none !important; }

.login { display: flex; flex-direction: column; min-height: 100vh; min-height: 100svh; }
.login > * { width: 100%; max-width: 28rem; margin: 0 auto; padding-inline: min(1rem, 5vw); }
.login > header { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0 .75rem; padding-block: .75rem; }
.login > main { padding-block: .25rem 1rem; }
.login > main:first-child { padding-top: 2rem; }
.login > footer { margin-top: auto; padding-block: .5rem 1.5rem; color: var(--soft); font-size: .875rem; text-align: center; }
.login > footer p { margin: 0; }
.login .brand { display: flex; align-items: center; gap: .6rem; font-size: 1.125rem; font-weight: 700; letter-spacing: -.01em; }
.login .brand svg { width: 1.875rem; height: 1.875rem; flex: none; }
.login nav ul { display: flex; flex-wrap: wrap; list-style: none; padding: 0; }
.login nav li { margin: 0; }
.login nav a, .login nav span[aria-current] {
  display: flex; align-items: center; justify-content: center; min-width: 2.75rem; min-height: 2.75rem; padding: 0 .35rem;
  font-size: .875rem; font-weight: 600; color: var(--soft); text-decoration: none; border-radius: 8px;
}
.login nav a:hover { color: var(--ink); text-decoration: underline; }
.login nav span[aria-current] { color: var(--ink); text-decoration: underline 2px var(--accent); text-underline-offset: .45em; }
.login .card { margin: 0; padding: 1.75rem min(1.5rem, 6vw); border-radius: 16px; box-shadow: 0 1px 2px rgb(16 32 48 / .05), 0 12px 32px -12px rgb(16 32 48 / .14); }
.login h1 { font-size: 1.5rem; text-wrap: balance; }
.login .lead { color: var(--soft); margin-bottom: 1.5rem; }
.login .lead b { color: var(--ink); font-weight: 600; }
.login .hint { color: var(--soft); font-size: .9375rem; line-height: 1.45; margin: .6rem 0 0; }
.login .field-error { color: var(--danger); font-size: .9375rem; font-weight: 600; line-height: 1.45; margin: .6rem 0 0; }
.login .actions { display: grid; gap: .75rem; margin-top: 1.5rem; }
.login .link { display: inline-flex; align-items: center; min-height: 2.75rem; font-weight: 500; }
.login .aside { text-align: center; margin: .75rem 0 -.75rem; }
.login .further { margin-top: 1.5rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
.login .further h2 { font-size: 1rem; margin: 0 0 .25rem; }
.login .further .hint { margin: 0 0 .75rem; }
.login .notice {
  display: grid; grid-template-columns: auto 1fr; gap: 0 .75rem; margin: 0 0 1.25rem; padding: .85rem 1rem;
  border: 1px solid transparent; border-radius: 10px; font-size: .9375rem; line-height: 1.45;
}
.login .notice svg { width: 1.375rem; height: 1.375rem; margin-top: .05rem; }
.login .notice p { margin: 0; grid-column: 2; }
.login .notice p:first-of-type { grid-row: 1; }
.login .notice a { color: inherit; font-weight: 600; }
.login .notice.error { color: var(--danger); background: var(--danger-soft); border-color: var(--danger); }
.login .notice.error:focus-visible { outline: 2px solid var(--danger); outline-offset: 1px; }
.login .notice.info { color: var(--ink); background: var(--accent-soft); }
.login .notice.info svg { color: var(--accent); }
.login .notice.safety { color: var(--soft); background: var(--code); margin: 1.25rem 0 0; font-size: .875rem; }
.login .code {
  font: 600 1.75rem/1.2 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; letter-spacing: .18em; text-align: center;
  min-height: 4rem; padding-inline: .25rem;
}
.login .number { white-space: nowrap; font-variant-numeric: tabular-nums; }
.login .sign { display: grid; place-items: center; width: 3.5rem; height: 3.5rem; margin: 0 0 1.25rem; border-radius: 50%; }
.login .sign svg { width: 1.75rem; height: 1.75rem; }
.login .sign.bad { color: var(--warn); background: var(--warn-soft); }
.login .sign.good { color: var(--good); background: var(--good-soft); }
.login .sign.plain { color: var(--accent); background: var(--accent-soft); }
.login .request { color: var(--soft); font-size: .8125rem; margin: 1.5rem 0 0; padding-top: 1rem; border-top: 1px solid var(--line); }
.login .parties { display: flex; align-items: center; gap: .6rem; margin: 0 0 1.25rem; color: var(--field-line); }
.login .parties > * { width: 3rem; height: 3rem; flex: none; border-radius: 12px; }
.login .parties .dots { width: 1.75rem; height: auto; }
.login .parties .initial { display: grid; place-items: center; font-size: 1.25rem; font-weight: 700; color: var(--accent); background: var(--accent-soft); }
.login .asked { list-style: none; padding: 0; margin: 0; border: 1px solid var(--line); border-radius: 12px; }
.login .asked > li { display: grid; grid-template-columns: auto 1fr; gap: 0 .85rem; margin: 0; padding: .85rem 1rem; border-top: 1px solid var(--line); }
.login .asked > li:first-child { border-top: 0; }
.login .asked svg { width: 1.375rem; height: 1.375rem; margin-top: .1rem; color: var(--accent); }
.login .asked p { margin: 0; grid-column: 2; }
.login .asked .name { font-weight: 600; grid-row: 1; }
.login .asked .about, .login .asked ul { color: var(--soft); font-size: .9375rem; line-height: 1.45; }
.login .asked ul { grid-column: 2; color: var(--ink); margin: .35rem 0; padding-inline-start: 1.1rem; list-style: disc; }
.login .asked.sensitive { background: var(--warn-soft); border-color: var(--warn-line); }
.login .asked + .sensitive { margin-top: .75rem; }
.login .sensitive svg { color: var(--warn); }
.login .tag { display: inline-block; padding: .05rem .5rem; border: 1px solid currentColor; border-radius: 99px; color: var(--warn); font-size: .8125rem; font-weight: 600; }
.login .terms { margin-top: 1.25rem; }
.login .terms p { color: var(--soft); font-size: .9375rem; line-height: 1.45; margin: 0 0 .6rem; }
@media (min-width: 30rem) {
  .login .card { padding: 2rem; }
  .login .pair { grid-template-columns: 1fr 1fr; }
}
@media (min-width: 40rem) and (min-height: 40rem) {
  .login > header { padding-top: 9vh; }
}
@media print { .login nav { display: none; } }
`;
