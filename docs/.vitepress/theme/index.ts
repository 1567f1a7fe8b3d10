import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { onMounted } from 'vue';
import { repairSearch } from './repair-search.ts';
import './style.css';

export default {
  extends: DefaultTheme,
  setup() {
    onMounted(repairSearch);
  },
} satisfies Theme;
