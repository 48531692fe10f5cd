import type { Page } from 'playwright-core'

/** Growth as a page states it. */
export interface ShownGrowth {
  readonly value: number
  /** Empty if the growth has the title of a window. */
  readonly period: string
  /** The time in `period` (ms since 1970). */
  readonly since: number | undefined
}

export interface ShownCard {
  readonly title: string
  readonly value: string
  readonly note: string
  readonly growth: ShownGrowth | undefined
}

/** The displayed values of a page at one moment, as text. */
export interface PageView {
  readonly heading: string
  readonly text: string
  readonly dot: string
  readonly lost: readonly string[]
  /** ISO 8601, of a campaign's page. */
  readonly asOf: string | undefined
  /** True if the page marks its numbers as old. */
  readonly isOld: boolean
  readonly cards: readonly ShownCard[]
  readonly rows: readonly {
    readonly id: string
    readonly name: string
    readonly views: string
    readonly growth: ShownGrowth | undefined
    readonly engagements: string
    readonly rate: string
    readonly asOf: string | undefined
    readonly isOld: boolean
  }[]
  readonly videos: readonly { readonly id: string; readonly counts: readonly string[]; readonly badges: string }[]
}

/** Runs in the page. */
function readPage(): PageView {
  const { document } = globalThis as any
  const clean = (text: string | null | undefined) => (text ?? '').replaceAll(/[\s\u202f]+/g, ' ').trim()
  const textOf = (node: any, selector?: string): string =>
    clean((selector === undefined ? node : node?.querySelector(selector))?.textContent)
  const all = (selector: string, node: any = document): any[] => [...node.querySelectorAll(selector)]
  const timeOf = (node: any, selector: string): string | undefined => node.querySelector(selector)?.dateTime
  function readGrowth(node: any): ShownGrowth | undefined {
    const change = node?.querySelector('.change')
    if (!change) return undefined
    const period = textOf(change, '.period')
    const number = textOf(change).replace(textOf(change, '.share'), '').replace(period, '')
    const [, since] = /since (.+?)(?: \(|$)/.exec(period) ?? []
    return { value: Number(number.replaceAll(/[^\d-]/g, '')), period, since: since ? parseClock(since) : undefined }
  }
  /** A time of today has no date, another one of this year no year. */
  function parseClock(text: string): number {
    if (/^\d+:/.test(text)) return Date.parse(`${new Date().toDateString()} ${text}`)
    return Date.parse(/\d{4}/.test(text) ? text : text.replace(',', `, ${new Date().getFullYear()},`))
  }
  return {
    heading: textOf(document, 'main h1'),
    text: textOf(document.querySelector('main')),
    dot: [...(document.querySelector('header .dot')?.classList ?? [])].find((name) => name !== 'dot') ?? '',
    lost: all('.lost').map((node) => textOf(node)),
    asOf: timeOf(document, '.facts time'),
    isOld: textOf(document, '.facts').includes('Old numbers'),
    cards: all('.card').map((card) => ({
      title: textOf(card, 'dt'),
      value: textOf(card, 'strong'),
      note: textOf(card, '.note'),
      growth: readGrowth(card),
    })),
    rows: all('table.campaigns tbody tr').map((row) => {
      const [, name, views, growth, engagements, rate, , fresh] = [...row.children]
      return {
        id: decodeURIComponent(name.querySelector('a.name').pathname.split('/').at(-1)),
        name: textOf(name, 'a.name'),
        views: textOf(views, '.moving'),
        growth: readGrowth(growth),
        engagements: textOf(engagements),
        rate: textOf(rate),
        asOf: timeOf(fresh, 'time'),
        isOld: textOf(fresh).startsWith('Old'),
      }
    }),
    videos: all('table.videos tbody tr').map((row) => ({
      id: new URL(row.querySelector('a.name').href).searchParams.get('v'),
      counts: all('td.number', row).map((cell) => textOf(cell).replace(textOf(cell, '.under'), '')),
      badges: all('.badge', row)
        .map((badge) => textOf(badge))
        .join(', '),
    })),
  } as PageView
}

export const readPageView = (page: Page): Promise<PageView> => page.evaluate(readPage)
