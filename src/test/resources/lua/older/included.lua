--@include fence/older
return 1
