/** Characters that fonts draw as nothing. */
const INVISIBLE_CHARACTERS = /[\s\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu

export const isBlank = (text: string): boolean => text.replace(INVISIBLE_CHARACTERS, '') === ''

/** The name of a campaign, or its id if the name is absent or shows nothing. */
export const getTitle = ({ id, name }: { readonly id: string; readonly name?: string | undefined }): string =>
  name === undefined || isBlank(name) ? id : name

/** The id of a channel of YouTube. */
export const CHANNEL_ID = /^UC[\w-]{22}$/
