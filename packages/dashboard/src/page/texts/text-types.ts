/** A text for each plural form of `Intl.PluralRules`. The number is its value `count`. */
export type PluralText = { readonly other: string } & Partial<Readonly<Record<Intl.LDMLPluralRule, string>>>

/** The texts of a language by key. A text may contain `{name}` for a value, and `<name>words</name>` for an element. */
export type Texts = Readonly<Record<string, string | PluralText>>

/** The same keys in another language. A missing key, or one too many, is a type error. */
export type Translation<T extends Texts> = {
  readonly [K in keyof T]: T[K] extends string ? string : PluralText
}

type FindNames<T> = T extends `${string}{${infer Name}}${infer Rest}` ? Name | FindNames<Rest> : never
type FindTags<T> = T extends `${string}</${infer Name}>${infer Rest}` ? Name | FindTags<Rest> : never

type FindForms<T> = T extends string ? T : T[keyof T]
/** The names of the values that a text needs. */
export type ValueNames<T> = FindNames<FindForms<T>> | (T extends string ? never : 'count')
/** The names of the elements that a text contains. */
export type TagNames<T> = FindTags<FindForms<T>>
