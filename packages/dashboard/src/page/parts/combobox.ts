import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { moveActive } from '../core/prices/active-option.ts'
import { html } from '../html.ts'
import { formats } from '../page-state.ts'
import { text } from '../texts/texts.ts'
import { useOptions, type ListOption, type ReadOptions } from './use-options.ts'

/** The next part of a list is read when this many options or fewer remain after the active one. */
const READ_AHEAD_OPTIONS = 5
/** The next part of a list is read at this distance from its end (px). */
const READ_AHEAD_PX = 200

interface ComboboxProps<T> {
  readonly label: string
  readonly isLabelHidden?: boolean
  /** The text of the current choice. '' if there is none. */
  readonly value: string
  readonly placeholder: string
  /** Reason why the current choice is invalid. */
  readonly fault?: string | undefined
  readonly hasFocus?: boolean
  read: ReadOptions<T>
  /** Its change means that the options may have changed. */
  readonly version: string
  onChoose(option: ListOption<T>): void
  /** Removes the current choice. */
  onClear?(): void
}

/**
 * A text field with a list of options that contain its text, read part by part: the combobox of the ARIA Authoring
 * Practices. The first option is active as soon as a text was typed, so that Enter chooses it.
 */
export function Combobox<T>(props: ComboboxProps<T>) {
  const { label, value, placeholder, fault, read, version, onChoose, onClear } = props
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const popup = useRef<HTMLDivElement>(null)
  const list = useRef<HTMLUListElement>(null)
  /** The text that is being typed. Undefined while the field shows the current choice. */
  const [typed, setTyped] = useState<string>()
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  /** True if Enter was pressed before the options of the typed text were read. */
  const isEntered = useRef(false)
  const found = useOptions(read, isOpen ? (typed ?? '') : undefined, version)
  const { options, isCurrent, next } = found
  const status = found.fault ?? (typed && isCurrent && options.length === 0 ? text('options.nothing') : '')
  const isShown = isOpen && (options.length > 0 || status !== '')

  function close() {
    isEntered.current = false
    setOpen(false)
    setTyped(undefined)
    setActive(-1)
  }
  function open() {
    setOpen(true)
  }
  function choose(option: ListOption<T> | undefined) {
    if (!option) return
    close()
    onChoose(option)
  }
  function clear() {
    close()
    onClear?.()
    input.current!.focus()
  }

  useEffect(() => {
    if (!isCurrent) return
    const first = typed ? Math.min(0, options.length - 1) : -1
    if (isEntered.current) choose(options[0])
    else setActive((before) => (before >= 0 && before < options.length ? before : first))
    isEntered.current = false
  }, [options, isCurrent])
  useEffect(() => popup.current?.scrollIntoView({ block: 'nearest' }), [isShown])
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' })
    if (next !== undefined && active >= options.length - READ_AHEAD_OPTIONS) found.readMore()
  }, [active, options])
  useEffect(() => {
    if (props.hasFocus) input.current!.focus()
  }, [props.hasFocus])

  function onKeyDown(event: KeyboardEvent) {
    if (event.isComposing) return
    const { key } = event
    const moved = event.altKey ? undefined : moveActive(key, active, options.length)
    if (key === 'Escape' && (isOpen || typed !== undefined)) close()
    else if (key === 'ArrowUp' && event.altKey) close()
    else if (!isOpen && (key === 'ArrowDown' || key === 'ArrowUp')) open()
    else if (isOpen && moved !== undefined) setActive(moved)
    else if (key === 'Enter' && typed === '' && active < 0 && value) clear()
    else if (key === 'Enter' && isOpen && isCurrent) choose(options[active])
    else if (key === 'Enter' && isOpen) isEntered.current = true
    else return
    event.preventDefault()
  }
  function onInput() {
    setTyped(input.current!.value)
    setActive(-1)
    open()
  }
  function onScroll() {
    const { scrollTop, clientHeight, scrollHeight } = list.current!
    if (scrollHeight - scrollTop - clientHeight < READ_AHEAD_PX) found.readMore()
  }
  /** An emptied field means the removal of its choice. */
  function onBlur() {
    const isEmptied = typed === '' && value !== ''
    close()
    if (isEmptied) onClear?.()
  }
  // A press on an option must not end the focus of the field, which closes the list.
  const onMouseDown = (event: Event) => event.preventDefault()

  return html`<div class="combobox">
    <label for=${`${id}-input`} class=${props.isLabelHidden ? 'hidden' : ''}><bdi>${label}</bdi></label>
    <div class="combobox-field">
      <input
        ref=${input}
        id=${`${id}-input`}
        type="text"
        role="combobox"
        autocomplete="off"
        spellcheck=${false}
        maxlength="256"
        dir="auto"
        aria-autocomplete="list"
        aria-expanded=${isShown && options.length > 0}
        aria-controls=${`${id}-list`}
        aria-activedescendant=${isShown && active >= 0 ? `${id}-${active}` : undefined}
        aria-invalid=${fault ? true : undefined}
        aria-describedby=${fault ? `${id}-fault` : undefined}
        placeholder=${placeholder}
        value=${typed ?? value}
        onInput=${onInput}
        onClick=${open}
        onKeyDown=${onKeyDown}
        onBlur=${onBlur}
      />
      ${onClear && value && html`<button type="button" class="icon" aria-label=${text('options.remove', { label })} onClick=${clear}>✕</button>`}
    </div>
    ${
      isShown &&
      html`<div ref=${popup} class="popup" onMouseDown=${onMouseDown}>
        ${
          options.length > 0 &&
          html`<ul
            ref=${list}
            id=${`${id}-list`}
            role="listbox"
            aria-label=${label}
            aria-busy=${!isCurrent}
            onScroll=${onScroll}
          >
            ${options.map(
              (option, i) =>
                html`<li
                  key=${option.key}
                  id=${`${id}-${i}`}
                  role="option"
                  aria-selected=${i === active}
                  aria-posinset=${i + 1}
                  aria-setsize=${next === undefined ? options.length : -1}
                  onClick=${() => choose(option)}
                >
                  <span>${option.note && html`<small>${option.note}</small>${' '}`}<bdi>${option.text}</bdi></span>
                  ${option.count !== undefined && html`<span class="count">${formats.count(option.count)}</span>`}
                </li>`,
            )}
          </ul>`
        }
        ${status && html`<p class="quiet">${status}</p>`}
      </div>`
    }
    ${fault && html`<p class="fault" id=${`${id}-fault`}>${fault}</p>`}
    <span class="hidden" role="status"
      >${isShown && isCurrent ? status || text(next === undefined ? 'options.count' : 'options.orMore', { count: options.length }) : ''}</span
    >
  </div>`
}
