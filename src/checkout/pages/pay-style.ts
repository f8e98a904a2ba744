import { shadesOf } from '../domain/theme.ts';

/** What the payment pages have beyond the common style sheet. */
export const payStyle = `
.pay > * { max-width: 30rem; }
.pay .brand { min-width: 0; }
.pay .brand .logo { height: 2rem; max-width: 8rem; object-fit: contain; border-radius: 4px; }
.pay .brand .initial { display: grid; place-items: center; width: 2rem; height: 2rem; flex: none; border-radius: 8px; font-size: 1rem; color: var(--accent); background: var(--accent-soft); }
.pay .summary { padding: .5rem 0 1.25rem; }
.pay .amount { margin: 0; font-size: 2.125rem; font-weight: 700; line-height: 1.2; letter-spacing: -.02em; font-variant-numeric: tabular-nums; }
.pay .what { margin: .25rem 0 0; color: var(--soft); }
.pay .test { display: inline-block; margin: .75rem 0 0; padding: .15rem .65rem; border: 1px solid var(--warn-line); border-radius: 99px; font-size: .8125rem; font-weight: 600; color: var(--warn); background: var(--warn-soft); }
.pay .time { display: flex; flex-wrap: wrap; align-items: center; gap: 0 .75rem; margin-top: .5rem; font-size: .9375rem; color: var(--soft); }
.pay .time p { margin: 0; font-variant-numeric: tabular-nums; }
.pay .text-button { min-height: 2.75rem; padding: 0; font: inherit; font-weight: 500; color: var(--accent); background: none; border: 0; text-decoration: underline; text-underline-offset: .15em; cursor: pointer; }
.pay .text-button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
.pay .text-button:disabled { color: var(--soft); }
.pay .button { gap: .6rem; padding-inline: .5rem; text-wrap: balance; }
.pay .button svg { width: 1.25rem; height: 1.25rem; flex: none; }
.pay .method > .hint { margin-top: .5rem; text-align: center; }
.pay .or { display: flex; align-items: center; gap: .75rem; margin: 1.25rem 0; font-size: .9375rem; font-weight: 500; color: var(--soft); }
.pay .or::before, .pay .or::after { content: ""; flex: 1; height: 1px; background: var(--line); }
.pay .tries { margin: -.75rem 0 1.25rem; }
.pay .field { margin-bottom: 1rem; }
.pay .field .hint, .pay .field .field-error { margin-top: .35rem; font-size: .875rem; }
.pay .head { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: 0 .75rem; }
.pay .card-brand { font-size: .8125rem; font-weight: 700; color: var(--soft); }
.pay #number { font-variant-numeric: tabular-nums; }
.pay .two { display: grid; gap: 0 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 7.25rem), 1fr)); }
.pay .two .field { display: grid; grid-row: span 4; grid-template-rows: subgrid; }
.pay .two .head { align-self: end; }
.pay .notice ul { grid-column: 2; margin-top: .25rem; }
.pay .facts { display: block; margin: 1rem 0 0; border: 1px solid var(--line); border-radius: 12px; }
.pay .facts > div { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; padding: .7rem 1rem; border-top: 1px solid var(--line); }
.pay .facts > div:first-child { border-top: 0; }
.pay .facts dd { margin-inline-start: auto; font-variant-numeric: tabular-nums; text-align: end; }
.pay .facts .small { flex-basis: 100%; font-size: .8125rem; color: var(--soft); text-align: start; }
.pay .leave { margin-top: .75rem; text-align: center; }
.pay .leave .hint { margin: 0; }
.pay > footer svg { width: 1.125rem; height: 1.125rem; margin-inline-end: .3rem; vertical-align: -.25em; }
@media (prefers-reduced-motion: no-preference) {
  .pay .turning svg { animation: turn 2.4s linear infinite; }
  @keyframes turn { to { transform: rotate(1turn); } }
}
@media (min-width: 56rem) {
  .pay > * { max-width: 58rem; }
  .pay > main { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 26rem); gap: 3rem; align-items: start; }
  .pay .summary { padding-top: 2rem; }
  .pay .amount { font-size: 2.75rem; }
}
@media print { .pay .actions, .pay .leave, .pay .time { display: none; } }
`;

/** A merchant's colour laid over the common ones, legible in both schemes. */
export function themeStyle(accent: string): string {
  const { light, dark } = shadesOf(accent);
  const rule = (shades: typeof light) =>
    `:root{--accent:${shades.accent};--on-accent:${shades.onAccent};--accent-deep:${shades.deep};--accent-soft:${shades.soft}}`;
  return `${rule(light)}@media (prefers-color-scheme:dark){${rule(dark)}}`;
}
