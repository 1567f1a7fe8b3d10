/** The orders of a shop. */
export const orders = {
  read: (id: string): string => `Order ${id}: two books`,
};
