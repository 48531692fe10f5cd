/** Style of the report. Below 640 px each row of a table is a card, so that no column is cut. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6470; --line: #d8dce2; --paper: #fff; --track: #eef1f5; --bar: #2f6fde; --mark: #c2410c }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --soft: #a3acb8; --line: #323841; --paper: #14171a; --track: #23282f; --bar: #5b93f5; --mark: #ff922b } }
* { box-sizing: border-box }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1120px; margin: 1.2rem auto 4rem; padding: 0 1rem; overflow-wrap: anywhere }
h1 { font-size: 1.5rem; line-height: 1.2; margin: 0 0 .6rem } h2 { margin: 1.8rem 0 .5rem; border-top: 1px solid var(--line); padding-top: .9rem } h3 { margin: .8rem 0 .3rem } h4 { margin: 1.2rem 0 .4rem }
a { color: var(--bar) } code { font-size: .92em } nav ul { columns: 3 14rem; padding-left: 1.2rem; margin: .4rem 0 }
.first p { margin: 0 0 .5rem } .soft, figcaption, .machine { color: var(--soft) } .machine { font-size: 13px } .soft { margin: .3rem 0 .6rem }
figure { margin: 1rem 0 0 } figcaption { font-size: 13px; margin-bottom: .3rem }
.bars { margin: .4rem 0 } .bar { display: grid; grid-template-columns: minmax(0, 17rem) 1fr minmax(7rem, max-content); gap: .1rem .7rem; align-items: center; margin: .15rem 0; line-height: 1.35 }
.bar-label { text-align: right } .bar-value { color: var(--soft); font-size: 13px; font-variant-numeric: tabular-nums }
.track { position: relative; height: 16px; background: var(--track); border-radius: 3px } .track > * { position: absolute }
.fill { inset: 0 auto 0 0; min-width: 1px; background: var(--bar); border-radius: 3px } .worse .fill { background: var(--mark) }
.whisker { top: 7px; height: 2px; background: var(--ink); opacity: .55 } .reference { top: -3px; bottom: -3px; width: 3px; margin-left: -1px; background: var(--mark) } .one { top: -3px; bottom: -3px; width: 1px; background: var(--ink) }
th:first-child, td:first-child { min-width: 7rem } .texts td:first-child { width: 34% } .texts td:nth-child(2) { width: 21% } .conclusions td:nth-child(3) { width: 29% } .conclusions table { font-size: 12.5px; line-height: 1.35 }
summary { white-space: nowrap; overflow: hidden; text-overflow: ellipsis } details[open] > summary { white-space: normal }
details { border: 1px solid var(--line); border-radius: 6px; margin: .25rem 0; padding: 0 .8rem } details[open] { padding-bottom: .8rem } summary { cursor: pointer; padding: .22rem 0 }
.scroll { overflow-x: auto } table { border-collapse: collapse; font-size: 12.5px; font-variant-numeric: tabular-nums; margin: .6rem 0; width: 100% }
td, th { overflow-wrap: normal; padding: .25rem .3rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top } th { color: var(--soft); font-weight: 600 } td:first-child, th:first-child, .texts td, .texts th { text-align: left }
.texts td, .texts th { overflow-wrap: anywhere } .behind { color: var(--mark); font-weight: 600 }
svg { display: block; width: 100%; max-width: 860px; height: auto } svg text { font-size: 13px; dominant-baseline: middle; fill: var(--ink) }
.label { text-anchor: end } .tick { text-anchor: middle; fill: var(--soft) } .grid { stroke: var(--line) } .curves path { fill: none; stroke-width: 2 }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; list-style: none; padding: 0; margin: .2rem 0; font-size: 13px } .legend i { display: inline-block; width: 1rem; height: 3px; vertical-align: middle; margin-right: .4rem }
@media (max-width: 640px) {
  body { font-size: 14px; line-height: 1.4; margin-top: .7rem } h1 { font-size: 1.25rem } nav ul { columns: 2 8rem } .first p { margin-bottom: .4rem } figure { margin-top: .6rem }
  .bar { grid-template-columns: 1fr max-content; margin: .25rem 0 } .bar-label { text-align: left; font-size: 13px } .bar-value { order: 1 } .track { order: 2; grid-column: 1 / -1; height: 10px } .whisker { top: 4px }
  summary { white-space: normal } .texts td:nth-child(n) { width: auto; min-width: 0 }
  table, tbody { display: block } tr { display: block; border: 1px solid var(--line); border-radius: 6px; padding: .3rem .5rem; margin: .5rem 0 } tr.head { display: none }
  td { display: flex; justify-content: space-between; gap: 1rem; border: 0; padding: .1rem 0; text-align: right } td:empty { display: none } td:first-child { display: block; font-weight: 600 }
  td[data-label]:not(:first-child)::before { content: attr(data-label); color: var(--soft); text-align: left; min-width: 30%; overflow-wrap: normal }
  .texts td { display: block; text-align: left } .texts td[data-label]::before { display: block } svg text { font-size: 24px } details { padding: 0 .5rem }
}`
