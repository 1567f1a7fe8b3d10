import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h, onMounted } from 'vue';
import { notFound } from './not-found.ts';
import { repairRoles } from './repair-roles.ts';
import './style.css';
import './front.css';

export default {
  extends: DefaultTheme,
  setup() {
    onMounted(repairRoles);
  },
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'nav-bar-title-after': () => h('span', { class: 'version' }, packageVersion),
      'not-found': notFound,
    }),
} satisfies Theme;
