//! A PJRT C-API CPU plugin on top of an installed jaxlib wheel.
