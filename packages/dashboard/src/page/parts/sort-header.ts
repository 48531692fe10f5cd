import { html } from '../html.ts'

interface SortHeaderProps {
  readonly column: string
  readonly title: string
  /** Present order; with `-` descending. */
  readonly sort: string
  /** True if the first click orders ascending. */
  readonly isText?: boolean
  readonly kind?: string
  onChange(sort: string): void
}

const ARROWS = { ascending: '↑', descending: '↓', none: '' }

/** The head of a column that orders its table. A second click reverses the order. */
export function SortHeader({ column, title, sort, isText = false, kind = '', onChange }: SortHeaderProps) {
  const order = sort === column ? 'ascending' : sort === `-${column}` ? 'descending' : 'none'
  const [first, second] = isText ? [column, `-${column}`] : [`-${column}`, column]
  return html`<th scope="col" class=${kind} aria-sort=${order}>
    <button type="button" class="sort" onClick=${() => onChange(sort === first ? second : first)}>
      ${title}<span aria-hidden="true">${' '}${ARROWS[order]}</span>
    </button>
  </th>`
}
