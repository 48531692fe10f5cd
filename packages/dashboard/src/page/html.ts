import htm from 'htm'
import { h, type VNode } from 'preact'

/** Its own types are those of a CommonJS module, which browsers do not get. */
interface Htm {
  bind(make: typeof h): (strings: TemplateStringsArray, ...values: unknown[]) => VNode
}

/** Markup as a tagged template. Whatever is put into it is text. */
export const html = (htm as unknown as Htm).bind(h)
